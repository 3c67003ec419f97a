slots => {
  // A changed text in a line keeps the wider of its two widths, so that nothing beside it moves by a hair.
  for (const [key, n, width] of slots) {
    const e = document.querySelectorAll(`[data-key="${key}"]`)[n - 1];
    if (!e) continue;
    const s = getComputedStyle(e);
    if (s.display !== 'inline') continue;
    const side = s.textAlign === 'center' ? 'center' : s.textAlign === 'right' || s.textAlign === 'end' ? 'right' : 'start';
    Object.assign(e.style, { display: 'inline-block', width: width + 'px', whiteSpace: 'nowrap', textAlign: side });
  }
}
