/** What we use of linkify-it 5, which brings no types of its own. */
declare module 'linkify-it' {
  export interface Match {
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
