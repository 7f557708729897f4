/** The parts of linkify-it 5 that we use; the package has no types. */
declare module 'linkify-it' {
  export interface Match {
    /** '' for a name without one */
    schema: string;
    index: number;
    lastIndex: number;
    raw: string;
    url: string;
  }
  export default class LinkifyIt {
    constructor(options?: { fuzzyLink?: boolean; fuzzyEmail?: boolean; fuzzyIP?: boolean });
    add(schema: string, definition: null): this;
    match(text: string): Match[] | null;
  }
}
