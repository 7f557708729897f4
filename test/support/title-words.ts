/** Verbs of which a title needs one. Words that are nouns as often, such as `reports`, are in {@link VERBS_OR_NOUNS}. */
const VERBS = readWords(`
  is are was were has have had does do did can cannot could may might must will would should need needs

  accepts acts adds agrees allows announces appears appends applies archives arrives asks authenticates authorizes
  awaits bears becomes begins belongs blames bounces breaks brings builds calls cancels carries challenges chooses
  clears closes collects combines comes commits compares compiles complains composes confines confirms connects
  contains continues converts costs covers creates crosses decides declares decodes decrypts defers defines delays
  deletes delimits delivers describes detects dies differs disables disconnects distributes doubles downloads drains
  drops equals erases escapes evaluates exceeds exists exits expires explains extracts fails falls feeds fences
  finds finishes fires fits fixes follows forgets frees gains gets gives goes grants greets grows handles hangs
  happens harms hashes heals hears hides holds ignores imitates includes inherits installs interrupts joins keeps
  knows lacks lasts leads learns leaves lends lets lies likes listens loads locks logs looks loses makes matches
  means meets mends mentions merges moves normalizes notices occurs offers opens outranks overlaps owns parses
  passes pauses permits pins posts predicts prefers prepares prints produces proves publishes pulls quotes reaches
  reads receives recognizes recovers recreates redacts refers refuses rejects reloads remains remembers removes
  renews repairs repeats replaces requires resolves responds restarts retries returns revokes runs says sees selects
  sends serves settles shares shows signs skips speaks spends splits spoils stands starts stays stops stores
  subscribes succeeds supersedes suppresses swallows switches takes tells throws touches treats tries trusts
  unarchives updates validates vanishes verifies vouches waits wakes wants warns weighs wins writes yields

  accept add agree allow appear apply arrive ask become begin belong bounce bring call cancel carry come contain
  create decide describe die died differ exceed exist expire fail fill find fit follow get give go grow hang happen
  harm hold include join know lead leave let lie live look lose make mean meet merge open parse pass pay publish
  pull reach read recommend refuse refused reject remain remove repay respond return run say see send serve show
  sign sit sort speak spend start stay stop survive take throw try wait wake write yield
`);

/** Words that are verbs or nouns. They count as a verb unless a word of {@link BEFORE_NOUNS} is in front of them. */
const VERBS_OR_NOUNS = readWords(`
  answers attempts blocks change changes checks claims continue copies count counts cuts dates details documents end
  ends explain exports files filters flags forms forwards groups imports keep kills labels limits link links list
  lists log manages marks match name names note notes order orders pages places point points pools put puts races
  records release releases repeat replays replies reports requests resets results rings routes rules scale schedules
  scores searches set sets shape shapes share sorts stages states steps store sweeps switch tests thread times
  traces turns types uploads use uses values work works
`);

const BEFORE_NOUNS = readWords(`
  a all an and another any as at both by each every few for from in its many more no of on one or other several some
  than the their to two what which with without
`);

/**
 * Whether a text contains a verb that can be the verb of a sentence. It compares words with lists and knows no grammar:
 * a verb that is missing is added to a list, and a text may pass because a word of the lists is a noun in it.
 */
export function hasVerb(text: string): boolean {
  const words = (text.toLowerCase().match(/[a-z]+/g) ?? []).filter((word) => word.length > 1 || word === 'a');
  return words.some((word, at) => {
    if (VERBS.has(word)) return true;
    return VERBS_OR_NOUNS.has(word) && !BEFORE_NOUNS.has(words[at - 1] ?? '');
  });
}

function readWords(text: string): ReadonlySet<string> {
  return new Set(text.split(/\s+/).filter((word) => word !== ''));
}
