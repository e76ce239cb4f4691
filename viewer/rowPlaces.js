// The places of rows that were removed from a list: a restored row returns to its place.

/** Maximum removed rows whose positions are remembered. */
const PLACES_MAX = 50;

export class RowPlaces {
  /** By handle: the rows before and after it. */
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
