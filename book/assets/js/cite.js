// A button that copies the citation beside it; without scripts the text can be selected.
(() => {
  const copy = async text => {
    try { await navigator.clipboard.writeText(text); return true; } catch { /* a folder on disk */ }
    const area = Object.assign(document.createElement('textarea'), {value: text});
    document.body.append(area);
    area.select();
    const done = document.execCommand('copy');
    area.remove();
    return done;
  };
  document.querySelectorAll('.cite pre').forEach(pre => {
    const button = Object.assign(document.createElement('button'), {type: 'button', textContent: 'Copy'});
    button.addEventListener('click', async () => {
      button.textContent = await copy(pre.textContent) ? 'Copied' : 'Select and copy';
      button.focus();
      setTimeout(() => { button.textContent = 'Copy'; }, 2000);
    });
    pre.before(button);
  });
})();
