/** Maximum length in characters, RFC 1035 §2.3.4, without the dot of the root. */
const MAX_LENGTH = 253;
const MAX_LABEL_LENGTH = 63;

/** Returns why the text is not a domain name; null leaves the decision to the service. */
export function nameFault(text: string): string | null {
  const name = text.trim().replace(/\.$/, '');
  if (name === '') return 'Enter a domain name.';
  if (name.includes('@')) return 'Enter only the part after the @.';
  if (/^[a-z]+:\/\//i.test(name) || name.includes('/')) return 'Enter only the domain name, without http:// or a path.';
  if (/\s/.test(name)) return 'A domain name cannot contain spaces.';
  const labels = name.split('.');
  if (labels.length < 2) return 'Enter a complete domain name, such as example.com.';
  if (labels.includes('')) return 'A domain name cannot contain empty parts. Remove the extra dot.';
  if (name.length > MAX_LENGTH || labels.some((label) => label.length > MAX_LABEL_LENGTH))
    return `A domain name has at most ${MAX_LENGTH} characters, and at most ${MAX_LABEL_LENGTH} between two dots.`;
  if (labels.some((label) => label.startsWith('-') || label.endsWith('-')))
    return 'No part of a domain name can begin or end with a hyphen.';
  // Letters of any script: the service converts them to A-labels.
  return /^[\p{L}\p{M}\p{N}.-]+$/u.test(name)
    ? null
    : 'A domain name can contain only letters, digits, hyphens and dots.';
}
