/** Characters; RFC 1035 §2.3.4, without the root's dot. */
const MAX_LENGTH = 253;
const MAX_LABEL_LENGTH = 63;

/** Why a text is no domain name, for whoever types it; null: the service decides about the rest. */
export function nameFault(text: string): string | null {
  const name = text.trim().replace(/\.$/, '');
  if (name === '') return 'Enter the name of a domain.';
  if (name.includes('@')) return 'Enter what stands behind the @, without the address.';
  if (/^[a-z]+:\/\//i.test(name) || name.includes('/'))
    return 'Enter the name alone, without http:// and without a path.';
  if (/\s/.test(name)) return 'A domain name has no spaces.';
  const labels = name.split('.');
  if (labels.length < 2) return 'Enter a whole name, as example.com.';
  if (labels.includes('')) return 'There is a dot too many.';
  if (name.length > MAX_LENGTH || labels.some((label) => label.length > MAX_LABEL_LENGTH))
    return `A name has at most ${MAX_LENGTH} characters, and ${MAX_LABEL_LENGTH} between two dots.`;
  if (labels.some((label) => label.startsWith('-') || label.endsWith('-')))
    return 'No part of a name begins or ends with a hyphen.';
  // Letters of any script: the service turns them into A-labels.
  return /^[\p{L}\p{M}\p{N}.-]+$/u.test(name) ? null : 'A domain name has letters, digits, hyphens and dots only.';
}
