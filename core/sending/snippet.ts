/** What a snippet can say about the email that it is inserted in, by placeholder: `{{recipient.name}}`. */
export const SNIPPET_PLACEHOLDERS = {
  'recipient.name': 'name of the first recipient, or the part of the address before the @',
  'recipient.first_name': 'first word of that name',
  'recipient.address': 'address of the first recipient',
  'my.name': 'your name, or the part of your address before the @',
  'my.address': 'address that you write from',
} as const;

export type SnippetPlaceholder = keyof typeof SNIPPET_PLACEHOLDERS;

/** Values of the placeholders; null: not known. */
export type SnippetValues = Readonly<Record<SnippetPlaceholder, string | null>>;

/** A placeholder, with spaces inside the braces or not. */
const PLACEHOLDER = /\{\{\s*([^{}\s]{1,64})\s*\}\}/g;

/** Returns the names in braces that are no placeholders, each once. */
export function findUnknownPlaceholders(text: string): string[] {
  const names = [...text.matchAll(PLACEHOLDER)].map(([, name = '']) => name);
  return [...new Set(names.filter((name) => !Object.hasOwn(SNIPPET_PLACEHOLDERS, name)))];
}

/** Returns the text with values in the place of its placeholders. One without a value stays, so that its writer sees it. */
export function fillSnippet(text: string, values: SnippetValues): string {
  return text.replace(PLACEHOLDER, (whole, name: string) =>
    Object.hasOwn(values, name) ? (values[name as SnippetPlaceholder] ?? whole) : whole,
  );
}
