// Days and hours, as a person reads them.
//
// By hand, and in the language of the page: the browser's own formats would be in another one
// where the browser is, and the first of them takes a tab 30 ms to make.

const DAYS = ['Sunday', 'Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday'];
const MONTHS = ['January', 'February', 'March', 'April', 'May', 'June', 'July', 'August', 'September', 'October', 'November', 'December'];
const DAY_MS = 86_400_000;
/** Where the clock is read by halves of the day. */
const HALVES = /^(en(-(US|CA|AU|NZ|IN|PH))?$|hi|ko|ar)/.test(navigator.language);

const two = (n) => String(n).padStart(2, '0');
const midnight = (then) => new Date(then.getFullYear(), then.getMonth(), then.getDate());
const isThisYear = (then) => then.getFullYear() === new Date().getFullYear();

export function time(ms) {
  const then = new Date(ms);
  const [hour, minute] = [then.getHours(), two(then.getMinutes())];
  return HALVES ? `${hour % 12 || 12}:${minute} ${hour < 12 ? 'am' : 'pm'}` : `${two(hour)}:${minute}`;
}

export function day(ms) {
  const then = new Date(ms);
  const days = Math.round((midnight(new Date()) - midnight(then)) / DAY_MS);
  if (days === 0) return 'Today';
  if (days === 1) return 'Yesterday';
  const year = isThisYear(then) ? '' : ` ${then.getFullYear()}`;
  return `${DAYS[then.getDay()]} ${then.getDate()} ${MONTHS[then.getMonth()]}${year}`;
}

const brief = (then) => `${then.getDate()} ${MONTHS[then.getMonth()].slice(0, 3)}`;

/** A day of the calendar, as `2026-11-15`. */
export const date = (text) => brief(new Date(`${text}T12:00`));

/** A length of time in words. */
export function duration(ms) {
  const minutes = Math.round(ms / 60_000);
  if (minutes < 1) return 'under a minute';
  if (minutes < 60) return `${minutes} min`;
  const hours = Math.floor(minutes / 60);
  if (hours < 48) return minutes % 60 && hours < 10 ? `${hours} h ${minutes % 60} min` : `${hours} h`;
  return `${Math.round(hours / 24)} days`;
}

/** Day and time, for places where the day is not said elsewhere. */
export const dateTime = (ms) => `${day(ms)}, ${time(ms)}`;

/** The same in short, for narrow places. */
export const stamp = (ms) => (day(ms) === 'Today' ? time(ms) : `${brief(new Date(ms))}${isThisYear(new Date(ms)) ? '' : ` ${new Date(ms).getFullYear()}`}, ${time(ms)}`);

/** The age of a time; a date if it is more than a week ago. */
export function ago(ms) {
  const then = new Date(ms);
  const seconds = (Date.now() - ms) / 1_000;
  if (seconds >= 7 * 86_400) return isThisYear(then) ? brief(then) : `${brief(then)} ${then.getFullYear()}`;
  for (const [unit, size] of [['day', 86_400], ['h', 3_600], ['min', 60]]) {
    const count = Math.round(seconds / size);
    if (seconds >= size) return `${count} ${unit}${unit === 'day' && count > 1 ? 's' : ''} ago`;
  }
  return 'just now';
}
