/** What words mean, as bits: the same for all languages, so that a rule is stated once. */
export const CONCEPT = {
  /** to ignore, to forget */
  ignore: 1,
  /** previous, earlier, all */
  prior: 2,
  /** instructions, rules, a prompt */
  instruction: 4,
  /** a program that reads mail: a language model, an AI */
  machine: 8,
  /** a word for a person as well: assistant, agent, bot */
  assistant: 16,
  /** to send, to reply with, to enter */
  send: 32,
  /** a password, a code, a key */
  secret: 64,
  /** at once, within hours */
  urgent: 128,
  /** to pay, to transfer */
  pay: 256,
  /** the user of the machine */
  user: 512,
  /** to tell, to mention */
  tell: 1_024,
  /** not, never, without */
  not: 2_048,
  /** my, our */
  mine: 4_096,
  /** a note, an instruction to */
  note: 8_192,
  /** if, when */
  condition: 16_384,
  /** to be closed, to lose */
  threat: 32_768,
  /** secretly, confidential */
  confidence: 65_536,
  /** an account, an address of a wallet, a card with a balance */
  account: 131_072,
  /** to delete, to approve, to open, to call: what agents do besides sending */
  act: 262_144,
  /** mail, files, contacts: what agents have */
  belongings: 524_288,
  /** a word of a phrase that machine-signals.ts looks for */
  hint: 1_048_576,
  /** a word of instructions as rot13 writes it, or from behind */
  encoded: 2_097_152,
} as const;
export type Concept = keyof typeof CONCEPT;

/** Returns whether all the concepts are there. */
export function hasAll(mask: number, ...concepts: readonly Concept[]): boolean {
  return concepts.every((concept) => (mask & CONCEPT[concept]) !== 0);
}

export function hasAny(mask: number, ...concepts: readonly Concept[]): boolean {
  return concepts.some((concept) => (mask & CONCEPT[concept]) !== 0);
}
