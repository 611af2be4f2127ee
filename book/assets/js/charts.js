// Draw each <figure class="vl-chart"> from the Vega-Lite specification inside it, and keep the
// chart's named parameters in the page's address, so that a link shows what its sender saw.
(() => {
  const look = (ink, background, faint = {color: ink, opacity: 0.15}) => ({
    background,
    font: 'system-ui, sans-serif',
    view: {stroke: null},
    title: {color: ink, subtitleColor: ink, anchor: 'start', fontSize: 14},
    axis: {
      labelColor: ink, titleColor: ink, domainColor: ink, tickColor: ink,
      gridColor: faint.color, gridOpacity: faint.opacity, labelFontSize: 12, titleFontSize: 12,
    },
    legend: {
      labelColor: ink, titleColor: ink, labelFontSize: 12, titleFontSize: 12,
      layout: {bottom: {direction: 'vertical', anchor: 'start'}}, // one beneath the other
    },
    header: {labelColor: ink, titleColor: ink},
    text: {color: ink},
    rule: {color: ink},
  });
  // texts and lines take the page's colour: both themes and paper, without drawing again
  const config = look('currentColor', 'transparent');
  const WIDE = 640; // of the specification itself, as in figures/layout.py
  const options = {renderer: 'svg', config, tooltip: {theme: 'custom'}, actions: false};

  const pointValue = value => Object.values(value).find(Array.isArray)?.join('~') ?? null;

  function remember(name, text) {
    const query = new URLSearchParams(location.search);
    if (text === null) query.delete(name); else query.set(name, text);
    const tail = String(query) ? '?' + query : '';
    history.replaceState(null, '', location.pathname + tail + location.hash);
  }

  // a value from the address: text~text selects points; a number must stay a number
  function recall(param, text) {
    const field = param.select?.fields?.[0];
    if (field) return text.split('~').map(value => ({[field]: value}));
    if (typeof param.value !== 'number') return text;
    return text !== '' && isFinite(text) ? Number(text) : param.value;
  }

  // the chart for a paper or a slide: black on white in either theme, as wide as a page
  async function picture(spec, kind) {
    const drawn = {...spec, padding: 12, ...(spec.width === 'container' && {width: 640})};
    const compiled = vegaLite.compile(drawn, {config: look('black', 'white')}).spec;
    const view = new vega.View(vega.parse(compiled), {renderer: 'none'});
    const url = await view.toImageURL(kind, kind === 'png' ? 2 : 1);
    view.finalize();
    return url;
  }

  // beside the links that hold the numbers, two that make a picture when they are first asked
  function offer(figure, spec) {
    const line = figure.querySelector('.vl-data');
    const name = line?.querySelector('[download]').download.replace(/\.csv$/, '');
    for (const kind of line ? ['svg', 'png'] : []) {
      const link = Object.assign(document.createElement('a'), {href: '#', download: `${name}.${kind}`, textContent: kind.toUpperCase()});
      link.setAttribute('aria-label', `${link.textContent} of ${name}`);
      link.addEventListener('click', async event => {
        event.preventDefault();
        link.href = await picture(spec, kind);
        link.click();
      }, {once: true});
      line.append(' ', link);
    }
  }

  // the words of a chart as they break at the widest of the widths that the page can hold
  function roomOf(spec, width) {
    const widths = [WIDE, ...Object.keys(spec.usermeta?.fits ?? {}).map(Number)].sort((a, b) => a - b);
    return widths.findLast(room => room <= width) ?? widths[0];
  }

  function fitted(spec, room) {
    const changed = structuredClone(spec);
    for (const [path, value] of spec.usermeta?.fits?.[room] ?? []) {
      path.slice(0, -1).reduce((part, key) => part[key], changed)[path.at(-1)] = value;
    }
    return changed;
  }

  async function draw(figure) {
    const spec = JSON.parse(figure.querySelector('script[type="application/json"]').textContent);
    const place = figure.querySelector('.vl-view');
    let width = place.clientWidth, shown = await show(place, fitted(spec, roomOf(spec, width))), later;
    offer(figure, spec);
    // its place may become another one: a sidebar folds, fonts arrive, a telephone is turned
    new ResizeObserver(() => {
      clearTimeout(later);
      later = setTimeout(async () => {
        if (!place.clientWidth || Math.abs(place.clientWidth - width) < 2) return;
        width = place.clientWidth;
        shown.finalize();
        shown = await show(place, fitted(spec, roomOf(spec, width)));
      }, 100);
    }).observe(place);
  }

  async function show(place, spec) {
    const query = new URLSearchParams(location.search);
    const params = (spec.params ?? []).filter(p => p.bind || p.select?.fields);
    for (const p of params) if (query.has(p.name)) p.value = recall(p, query.get(p.name));
    const shown = await vegaEmbed(place, spec, options), {view} = shown;
    for (const p of params) {
      view.addSignalListener(p.name, (name, value) => remember(name, p.select ? pointValue(value) : String(value)));
    }
    return shown;
  }

  function drawn(figure) {
    return draw(figure).catch(error => {
      const note = document.createElement('p');
      note.className = 'vl-broken';
      note.textContent = `This chart could not be drawn: ${error.message}`;
      figure.querySelector('.vl-view').replaceChildren(note);
    });
  }

  // first what the reader sees; the rest when the page has loaded and a frame has shown it
  const inView = figure => { const {top, bottom} = figure.getBoundingClientRect(); return top < innerHeight && bottom > 0; };
  const figures = [...document.querySelectorAll('.vl-chart')].map(figure => [inView(figure), figure]);
  const drawing = seen => Promise.all(figures.filter(([one]) => one === seen).map(([, figure]) => drawn(figure)));
  const loaded = new Promise(done => { if (document.readyState === 'complete') done(); else addEventListener('load', done); });
  const frame = () => new Promise(shown => requestAnimationFrame(() => setTimeout(shown)));
  window.chartsReady = Promise.all([drawing(true), loaded]).then(frame).then(() => drawing(false));
})();
