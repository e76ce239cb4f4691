// Where rows stood that went from a list: what is brought back goes to the same place.

/** Rows that went, of which it is known where they stood. */
const PLACES_MAX = 50;

export class RowPlaces {
  /** By handle: the rows that stood before and after it. */
  #places = new Map();

  note(row, before, after) {
    this.#places.delete(row.handle);
    this.#places.set(row.handle, { before, after });
    if (this.#places.size > PLACES_MAX) this.#places.delete(this.#places.keys().next().value);
  }

  find(row) {
    return this.#places.get(row.handle);
  }
}
