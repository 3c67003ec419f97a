() => {
  // Faults of typesetting that a reader would see: too small, out of its box, at the edge, text over text, covered text.
  const bad = [], runs = [];
  const walk = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  let n;
  while (n = walk.nextNode()) {
    const said = n.textContent.trim().slice(0, 24), p = n.parentElement;
    if (!said || p.closest('style')) continue;
    const r = document.createRange(); r.selectNodeContents(n);
    for (const q of r.getClientRects()) {
      if (!q.width) continue;
      const size = parseFloat(getComputedStyle(p).fontSize), half = size * .36, mid = (q.top + q.bottom) / 2;
      const turned = !!p.closest('[data-turned]');
      if (!turned) runs.push([q.left, mid - half, q.right, mid + half, said, p]);
      if (size < 14) bad.push(['small', size, said]);
      for (let a = p; a && a !== document.body && !turned; a = a.parentElement) {
        const s = getComputedStyle(a);
        if (s.backgroundColor !== 'rgba(0, 0, 0, 0)' || parseFloat(s.borderTopWidth) > 1 || s.overflow === 'hidden') {
          const b = a.getBoundingClientRect();
          if (q.right > b.right + 1 || q.left < b.left - 1 || mid + half > b.bottom + 1 || mid - half < b.top - 1) bad.push(['out of box', said]);
          break;
        }
      }
      if (q.right > innerWidth - 4 || q.left < 4 || mid + half > innerHeight - 4 || mid - half < 4) bad.push(['edge', said]);
    }
  }
  for (let i = 0; i < runs.length; i++) for (let j = i + 1; j < runs.length; j++) {
    const a = runs[i], b = runs[j];
    if (Math.min(a[2], b[2]) - Math.max(a[0], b[0]) > 1.5 && Math.min(a[3], b[3]) - Math.max(a[1], b[1]) > 1.5) bad.push(['overlap', a[4], '/', b[4]]);
  }
  for (const e of document.querySelectorAll('body *')) {
    const s = getComputedStyle(e);
    if (s.backgroundColor === 'rgba(0, 0, 0, 0)' || (s.position !== 'absolute' && s.borderRadius === '0px') || s.zIndex === '-1' || e.closest('[data-under]')) continue;
    const b = e.getBoundingClientRect();
    for (const t of runs) {
      if (e.contains(t[5]) || Math.min(t[2], b.right) - Math.max(t[0], b.left) <= 2 || Math.min(t[3], b.bottom) - Math.max(t[1], b.top) <= 2) continue;
      const top = document.elementFromPoint((t[0] + t[2]) / 2, (t[1] + t[3]) / 2);
      if (top && (e === top || e.contains(top)) && !t[5].contains(top)) bad.push(['covered', t[4]]);
    }
  }
  return bad;
}
