import { z } from 'zod';

/** The values of a field of a capability, in words. */
export interface Vocabulary {
  /** type in GraphQL, such as `SuppressionReason` */
  name: string;
  description: string;
  /** names of values in GraphQL, where they are not those in upper case */
  names?: Readonly<Record<string, string>>;
  /** description of each value */
  values: Readonly<Record<string, string>>;
}

const vocabularies = z.registry<Vocabulary>();

/** Returns the shape of a field with these values. The compiler rejects a missing or unknown description. */
export function oneOf<const Values extends readonly [string, ...string[]]>(
  values: Values,
  vocabulary: Vocabulary & { values: Readonly<Record<Values[number], string>> },
) {
  const shape = z.enum(values);
  vocabularies.add(shape, vocabulary);
  return shape;
}

/** Returns the vocabulary of a shape that `oneOf` made, whatever description was added later; undefined for others. */
export function findVocabulary(shape: z.core.$ZodType): Vocabulary | undefined {
  return vocabularies.get(shape);
}
