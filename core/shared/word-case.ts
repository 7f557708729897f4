/** Returns a name in camelCase in snake_case. */
export function snakeCase(name: string): string {
  return name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}

/** Returns a name with its first letter in upper case. */
export function capitalized(name: string): string {
  return `${name.slice(0, 1).toUpperCase()}${name.slice(1)}`;
}

/** Returns a name with its first letter in lower case. */
export function uncapitalized(name: string): string {
  return `${name.slice(0, 1).toLowerCase()}${name.slice(1)}`;
}
