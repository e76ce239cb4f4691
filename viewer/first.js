// Starts before the modules are loaded: the theme, the page token and the first memories.
// The server puts this into the page itself, ahead of everything that has to be loaded.

window.first = (() => {
  const KEY = 'claude-mem-token';
  /** The height of a usual turn: no more are asked for at first than a window holds. */
  const TURN = 150;
  const PATIENCE_MS = 250;
  const token = () => sessionStorage.getItem(KEY) ?? '';
  const json = async (path, how) => {
    const answer = await fetch(path, how);
    return answer.ok ? answer.json() : null;
  };

  /** Trades the one-time secret of the link for a token, and takes it out of the address bar. The
   *  first memories come along. */
  const enter = async (secret, turns) => {
    history.replaceState(null, '', `${location.pathname}#/feed`);
    const given = await json('/api/page/token', { method: 'POST', headers: { 'Content-Type': 'application/json' }, body: JSON.stringify({ secret, turns }) });
    if (given) sessionStorage.setItem(KEY, given.token);
    return given?.turns ?? null;
  };

  /** A tab that was opened from another one asks it for the key. Only a tab that is connected to the worker
   *  answers: then nobody else can serve pages at this address. */
  const borrow = () => new Promise((done) => {
    const channel = new BroadcastChannel('claude-mem');
    const end = (given) => {
      channel.close();
      if (given) sessionStorage.setItem(KEY, given);
      done();
    };
    setTimeout(end, PATIENCE_MS);
    channel.onmessage = ({ data }) => data.token && end(data.token);
    channel.postMessage({ isAsking: true });
  });

  const secret = new URLSearchParams(location.hash.slice(1)).get('k');
  // Asked for its inside, the window would lay out a page that has nothing in it yet.
  const rows = Math.min(Math.max(Math.ceil(outerHeight / TURN), 6), 30);
  const project = /^#\/feed\?project=(\d+)$/.exec(location.hash)?.[1] ?? sessionStorage.getItem('claude-mem-project');
  const turns = { limit: rows, ...(project && { project }) };
  const path = `/api/turns?${new URLSearchParams(turns)}`;
  const isFeed = /^(#\/?(feed(\?project=\d+)?)?)?$/.test(location.hash);
  const begin = async () => {
    if (secret) return enter(secret, turns);
    if (!token()) await borrow();
    return isFeed && token() ? json(path, { headers: { 'X-Claude-Mem-Token': token() } }) : null;
  };
  // An error here is ignored: the view repeats the request and reports it.
  const asked = begin().catch(() => null);
  // Not before: the browser fetches it from another process, which takes it a while.
  const root = document.documentElement;
  root.dataset.theme = localStorage.getItem('claude-mem-theme') ?? 'system';
  // One paint instead of two: the frame is shown together with its content, unless that takes
  // a while.
  const show = () => root.removeAttribute('data-wait');
  if (secret || (isFeed && token())) {
    root.dataset.wait = '';
    setTimeout(show, PATIENCE_MS);
  }
  return { token, entered: secret ? asked.then(() => token() !== '') : token() ? true : asked.then(() => true), rows, path, asked, show };
})();
