/** Environment variables by name. */
export type Environment = Readonly<Record<string, string | undefined>>;

/** Returns the environment of this process. No other file reads it. */
export function processEnvironment(): Environment {
  return process.env;
}
