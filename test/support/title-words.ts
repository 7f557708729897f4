/** Verbs of which a title needs one. Words that are nouns as often, such as `reports`, are in {@link LEADING_VERBS}. */
const VERBS = readWords(`
  is are was were has have had does do did can cannot could may might must will would should need needs

  accepts acts adds agrees allows announces appears appends applies archives arrives asks authenticates awaits bears
  becomes begins belongs blames bounces breaks brings builds calls cancels carries challenges chooses clears closes
  collects combines comes commits compares compiles complains composes confines confirms connects contains continues
  converts costs covers creates crosses decides declares decodes decrypts defers defines delays deletes delimits
  delivers describes detects dies differs disables disconnects distributes doubles downloads drains drops ends
  equals erases escapes evaluates exceeds exists exits expires explains extracts fails falls feeds fences finds
  finishes fires fits fixes follows forgets frees gains gets gives goes grants greets grows handles hangs happens
  hashes heals hears hides holds ignores imitates includes inherits installs interrupts joins keeps knows lacks
  lasts leads learns leaves lends lets lies likes listens loads locks logs looks loses makes matches means meets
  mends mentions merges moves normalizes notices occurs offers opens outranks overlaps owns parses passes pauses
  permits pins posts predicts prefers prepares prints produces proves publishes pulls puts quotes reaches reads
  receives recognizes recovers recreates redacts refers refuses rejects reloads remains remembers removes renews
  repairs repeats replaces requires resolves responds restarts retries returns revokes runs says sees selects sends
  serves sets settles shares shows signs skips speaks spends splits spoils stands starts stays stops stores
  subscribes succeeds supersedes suppresses swallows switches takes tells throws touches treats tries trusts
  unarchives updates validates vanishes verifies vouches waits wakes wants warns weighs wins works writes yields

  accept add agree allow appear apply arrive ask become begin belong bounce bring call cancel carry come contain
  count decide describe die differ exceed exist expire fail fill find fit follow get give go grow hang happen hold
  join keep know lead leave let lie live look lose make mean meet merge open parse pass pay pull reach read refuse
  reject remove return run say see send serve show sign sit sort speak spend start stay stop survive take throw try
  wait wake write yield
`);

/** Words that are a verb at the beginning of a title, and may be a noun in any other place. */
const LEADING_VERBS = readWords(`
  answers attempts blocks changes checks claims copies counts cuts dates details documents files filters flags forms
  forwards groups imports kills labels limits links lists manages marks names orders pages places points pools races
  records replays replies reports requests resets results rings routes rules schedules scores searches shapes sorts
  stages states steps sweeps tests times traces turns types uploads uses values
`);

/**
 * Whether a text contains a verb that can be the verb of a sentence. It is a list of words and knows no grammar: a new
 * verb is added to it, and a text may pass because a word of the list is a noun there.
 */
export function hasVerb(text: string): boolean {
  const words = (text.toLowerCase().match(/[a-z]+/g) ?? []).filter((word) => word.length > 1);
  return LEADING_VERBS.has(words[0] ?? '') || words.some((word) => VERBS.has(word));
}

function readWords(text: string): ReadonlySet<string> {
  return new Set(text.split(/\s+/).filter((word) => word !== ''));
}
