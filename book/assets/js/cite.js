// A button that copies the citation beside it; without scripts the text can be selected.
(() => {
  const copy = async text => {
    try { await navigator.clipboard.writeText(text); return true; } catch { /* a folder on disk */ }
    const area = Object.assign(document.createElement('textarea'), {value: text});
    const open = document.querySelector('[popover]:popover-open') ?? document.body;
    open.append(area); // within the open box, or taking the focus would close it
    area.select();
    const done = document.execCommand('copy');
    area.remove();
    return done;
  };
  // a button that copies what `text` returns when it is pressed
  globalThis.copyButton = (text, label = 'Copy') => {
    const button = Object.assign(document.createElement('button'), {type: 'button', textContent: label});
    button.addEventListener('click', async () => {
      button.textContent = await copy(text()) ? 'Copied' : 'Select and copy';
      button.focus();
      setTimeout(() => { button.textContent = label; }, 2000);
    });
    return button;
  };
  document.querySelectorAll('.cite .form').forEach(form => form.before(copyButton(() => form.textContent)));
})();
