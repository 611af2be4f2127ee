// Numbers as the report writes them: three digits and a unit, no exponent, a dash for what is missing.

const whole = new Intl.NumberFormat('en-US', {maximumFractionDigits: 0});

// A whole number with commas between thousands; .5 goes to the even one, as in Python.
export const commas = value => whole.format(Math.abs(value % 1) === 0.5 ? 2 * Math.round(value / 2) : value);

// The same digits as Python's ``digits``: what lies just between two goes to the even one.
export function digits(value, significant = 3) {
  if (value == null || Number.isNaN(value)) return '–';
  if (!Number.isFinite(value)) return value > 0 ? '∞' : '−∞';
  if (value === 0) return '0';
  if (Number.isInteger(value) && Math.abs(value) < 10 ** significant) return String(value).replace('-', '−');
  const places = significant - 1 - Math.floor(Math.log10(Math.abs(value)));
  return fixed(value, places).replace('-', '−');
}

function fixed(value, places) {
  if (places <= 0) {
    const step = 10 ** -places;
    return commas(even(value / step) * step);
  }
  // as many places as JavaScript has; a number that small is not shown by any page
  const text = value.toFixed(Math.min(places, 100));
  const twice = value * 2 * 10 ** places;
  const tie = Number.isInteger(twice) && twice % 2 !== 0;
  const rounded = tie ? (even(twice / 2) / 10 ** places).toFixed(places) : text;
  const [units, rest] = rounded.split('.');
  const sign = rounded.startsWith('-') ? '-' : '';
  return `${sign}${whole.format(Math.abs(Number(units)))}.${rest}`;
}

const even = value => (Math.abs(value % 1) === 0.5 ? 2 * Math.round(value / 2) : Math.round(value));

// Bytes in GB (10^9) or GiB (2^30); the unit always stands beside the number.
export const GIGA = {GB: 1e9, GiB: 2 ** 30};
export const bytes = (value, unit) => `${digits(value / GIGA[unit])} ${unit}`;
export const joined = (value, unit) => (value == null || Number.isNaN(value) || !unit ? digits(value) : `${digits(value)} ${unit}`);
export const several = (count, word) => `${commas(count)} ${word}${count === 1 ? '' : 's'}`;

// Difference of a number from another, in per cent with a sign.
export function difference(value, from) {
  const share = 100 * (value / from - 1);
  if (!Number.isFinite(share)) return '';
  if (Math.abs(share) < 0.05) return '±0 %';
  const text = Math.abs(share) >= 1000 ? commas(Math.abs(share)) : Math.abs(share).toPrecision(3).replace(/\.0*$|(\.\d*?)0+$/, '$1');
  return `${share > 0 ? '+' : '−'}${text} %`;
}
