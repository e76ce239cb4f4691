// Views that were left, in their last state: Back restores them. Events that arrive meanwhile are
// delivered when they are shown again.

const VIEWS_MAX = 6;
/** A view that missed more than this is made anew. */
const EVENTS_MAX = 400;

export class ViewCache {
  /** By the entry of the history that they belong to. */
  #views = new Map();

  /** This view is being left. It may stay in the page for a while. */
  leave(view) {
    view.late = [];
    view.y = scrollY;
    view.had = document.activeElement;
    this.#views.delete(view.entry);
    this.#views.set(view.entry, view);
    if (this.#views.size > VIEWS_MAX) this.#views.delete(this.#views.keys().next().value);
  }

  /** The view of this entry, if it is still known and shows this. */
  take(entry, hash) {
    const view = this.#views.get(entry);
    this.#views.delete(entry);
    return view?.hash === hash ? view : null;
  }

  tell(event) {
    for (const [entry, { late }] of this.#views) {
      late.push(event);
      if (late.length > EVENTS_MAX) this.#views.delete(entry);
    }
  }

  clear() {
    this.#views.clear();
  }
}
