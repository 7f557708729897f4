/** Characters; RFC 1035 §2.3.4, without the root's dot. */
const MAX_LENGTH = 253;
const MAX_LABEL_LENGTH = 63;

/** Why a text is no domain name, for whoever types it; null: the service decides about the rest. */
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
  // Letters of any script: the service turns them into A-labels.
  return /^[\p{L}\p{M}\p{N}.-]+$/u.test(name)
    ? null
    : 'A domain name can contain only letters, digits, hyphens and dots.';
}
