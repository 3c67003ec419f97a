() => {
  // Every element that shows a fact, and every other run of text: where it is, what it says, how it looks.
  const out = {}, seen = {};
  const rects = e => {
    const r = document.createRange(); r.selectNodeContents(e);
    let q = [...r.getClientRects()].filter(a => a.width > 0 && a.height > 0);
    if (e.tagName.toLowerCase() === 'svg' || e.ownerSVGElement || !q.length || !e.textContent.trim()) q = [e.getBoundingClientRect()];
    return q.map(a => [a.left, a.top, a.right, a.bottom]);
  };
  const union = q => [Math.min(...q.map(a => a[0])), Math.min(...q.map(a => a[1])), Math.max(...q.map(a => a[2])), Math.max(...q.map(a => a[3]))];
  const style = e => {
    const s = getComputedStyle(e);
    const look = { color: s.color, bg: s.backgroundColor, image: s.backgroundImage, weight: s.fontWeight, slant: s.fontStyle, size: s.fontSize, family: s.fontFamily, line: s.textDecorationLine, opacity: s.opacity };
    if (parseFloat(s.borderTopWidth) > 0) look.border = s.borderTopColor;
    return look;
  };
  // Which way letters are turned over by the transforms of an element and of those around it.
  const flip = e => {
    let m = new DOMMatrix();
    for (let a = e; a && a !== document.body; a = a.parentElement) {
      const t = getComputedStyle(a).transform;
      if (t !== 'none') m = new DOMMatrix(t).multiply(m);
    }
    return m.a < 0 ? (m.d < 0 ? 'both' : 'horizontal') : m.d < 0 ? 'vertical' : '';
  };
  const add = (key, e, text, q, fact) => {
    seen[key] = (seen[key] || 0) + 1;
    const b = e.getBoundingClientRect(), svg = e.tagName.toLowerCase() === 'svg' || !!e.ownerSVGElement || !e.textContent.trim();
    const clipped = getComputedStyle(e).overflow !== 'visible' && (e.scrollWidth > e.clientWidth + 1 || e.scrollHeight > e.clientHeight + 4);
    out[key + '#' + seen[key]] = { fact, text, box: union(q), own: [b.left, b.top, b.right, b.bottom], lines: q.length, style: style(e), drawn: svg ? e.outerHTML : '', clipped, flip: svg ? '' : flip(e) };
  };
  for (const e of document.querySelectorAll('[data-fact]')) if (e.getBoundingClientRect().width > 0) add(e.dataset.key, e, e.textContent.trim(), rects(e), e.dataset.fact);
  const walk = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  let n;
  while (n = walk.nextNode()) {
    const p = n.parentElement, text = n.textContent.trim();
    if (!text || p.closest('[data-fact]') || p.closest('style')) continue;
    const r = document.createRange(); r.selectNodeContents(n);
    const q = [...r.getClientRects()].filter(a => a.width > 0).map(a => [a.left, a.top, a.right, a.bottom]);
    if (q.length) add('static:' + text, p, text, q, null);
  }
  return out;
}
