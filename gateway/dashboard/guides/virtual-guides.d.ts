declare module 'virtual:guides' {
  /** A guide of docs/, for lists and searches. */
  export interface GuideEntry {
    /** its path behind /docs/ */
    name: string;
    title: string;
    headings: { id: string; text: string }[];
  }
  /** All guides by title. */
  export const guides: readonly GuideEntry[];
  /** Loads a guide by its name: a Guide of parse-guide.ts. */
  export const loaders: Readonly<Record<string, () => Promise<{ default: object }>>>;
}
