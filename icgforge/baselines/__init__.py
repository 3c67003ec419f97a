"""Reference baselines and judges that need no key, behind litellm's custom-provider mechanism.

They are no stand-in for multimodal models: they exist so that everything else can run, and so that
a score has something to be compared with.
"""

from __future__ import annotations

from icgforge.baselines.baselines import MODELS as MODELS
from icgforge.baselines.provider import JUDGES as JUDGES
from icgforge.baselines.provider import register as register
from icgforge.baselines.provider import reply as reply

__all__ = ["JUDGES", "MODELS", "register", "reply"]
