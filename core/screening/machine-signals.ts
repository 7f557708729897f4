import { CONCEPT, type Concept, hasAll, hasAny } from './concept.ts';
import type { LivePhrases } from './live-phrases.ts';
import { isQuoted, type Sentence, SIGN } from './survey-text.ts';
import type { Token } from './tokens.ts';

/** A sign that text gives instructions to a machine. */
export interface Signal {
  /** 1: enough alone */
  weight: number;
  why: string;
}

const MACHINE_NOUN =
  '(?:a\\.?i\\.?|llm|language model|large language model|assistant|agent|bot|chatbot|chat bot|model|summari[sz]er|copilot|chatgpt|gpt|automated (?:system|reader|process|tool|service)|(?:ai|llm|gpt)[ -](?:based|powered|driven)(?: \\w+){1,2}|machine reader)s?';
const STRONG_NOUN =
  /\b(?:a\.?i\.?|llms?|language models?|chatbots?|chatgpt|copilot|gpt|summari[sz]ers?|automated (?:system|reader|process|tool|service)s?|machine readers?)(?![\w])/;

const NOTE_WHY = 'it is a note to a machine that reads the mail';

/** An address of mail or of a page. */
const ADDRESS = /[^\s@<>"]{1,64}@[a-z0-9-]{1,63}\.[a-z.]{2,30}|https?:\/\/\S/;
function hasAddress(text: string): boolean {
  return (text.includes('@') || text.includes('://')) && ADDRESS.test(text);
}

/** Words before a noun that a person may have as well: not "travel agent". */
const MODIFIER =
  '(?:the|any|all|every|my|your|this|ai|llm|mail|e-?mail|inbox|virtual|digital|smart|automated|automatic|language|large|autonomous|personal ai|helpful|attention|new|dear|note|important)';
const START_VOCATIVE = new RegExp(
  `^[\\s"'(*_#>-]*(?:(?:dear|hello|hi|hey|attention|attn|to|for|note|notes|message|instructions?|memo|hint|important|urgent|notice|reminder)[ :,!-]+(?:(?:instructions?|message|notice|note|to|for|the|any|all|every|my|whichever|from) ){0,4})?(?:${MODIFIER} ){0,3}?${MACHINE_NOUN}(?: (?:agents?|assistants?|models?|bots?|systems?|instructions?|note|task|only|reading this(?: e-?mail| message)?|processing this(?: e-?mail| message)?))*\\s*[:,;!\\u2013\\u2014-]`,
);
const NOTE_TO = new RegExp(
  `\\b(?:note|notice|instructions?|message|attention|memo|directive|hint|reminder|rule|policy)(?: from [\\w -]{1,50}?)? (?:to|for) (?:the |any |all |every |my |whatever |your )?(?:\\w+ ){0,2}?${MACHINE_NOUN}\\b`,
);
const MODAL = new RegExp(
  `\\b${MACHINE_NOUN}(?: \\w+){0,6}? (?:must|should|shall|may|has to|have to|needs? to|please|(?:is|are) required to|has (?:full |blanket )?permission|have (?:full |blanket )?permission|(?:is|are) (?:authori[sz]ed|allowed|instructed|requested|asked|permitted) to)\\b`,
);

/** What a machine does with the mail that speaks to it. */
const HANDLING =
  '(?:handl(?:es?|ing)|process(?:es|ing)?|read(?:s|ing)?|triag(?:es?|ing)|manag(?:es?|ing)|pars(?:es?|ing)|scan(?:s|ning)?|monitor(?:s|ing)?|review(?:s|ing)?|summari[sz](?:es?|ing)|answer(?:s|ing)?|evaluat(?:es?|ing)|classif(?:y|ies|ying)|screen(?:s|ing)?)';
const HANDLER = new RegExp(
  `\\b${MACHINE_NOUN}(?: (?:that|which|who|currently|now|is|are)){0,3} ${HANDLING} (?:\\w+ ){0,2}?(?:this|these|my|the present) (?:\\w+ )?(?:e-?mails?|messages?|mail|inbox|mailbox|threads?|tickets?|documents?|conversation|requests?|applications?|text|page|should|must|shall|needs?|please)\\b`,
);
/** What is meant for a machine. */
const MEANT_FOR = new RegExp(
  `\\b(?:for|to) (?:the |any |an |all |your |every )?(?:\\w+ ){0,2}?(?:${MACHINE_NOUN})(?: of \\w+)?(?: only| alone)?\\s*:`,
);
/** A machine that does something with the mail, as a condition. */
const IF_MACHINE = new RegExp(
  `\\bif (?:an?|any|some|your|the) (?:\\w+ ){0,2}?(?:${MACHINE_NOUN})(?: \\w+)? (?:is |are )?${HANDLING}\\b`,
);
/** Before such a machine: it is spoken to. */
const SPOKEN_TO =
  /^[\s"'(*_#>-]*(?:(?:instructions?|notes?|messages?|attention|attn|dear|hello|hi)[ :,]+)?(?:to|for|any|all|every|whichever|whatever|the|dear|ai)\b/;
const DIRECTED = /:|\b(?:must|should|shall|please|needs? to|has to|have to|is to|are to)\b/;

/** Names of machines that have several words, outside English. */
const FOREIGN_MACHINE =
  /\b(?:digital|virtuel|ki-|kunstlich)\w* assisten\w+|\bassisten\w* (?:virtua\w+|virtuel\w*|virtual\w*|digita\w+|numerique\w*)|\basistent\w* (?:virtual\w*|digital\w*)|\bsistem[ai]s? (?:automatic\w+|de ia)|\bautomatische\w* systeme?n?\b|\bsystemes? automati\w+|\b(?:ki|ai|ia)-(?:system|assist|agent|model|tool)\w*|\basystenc?[it]\w* ai\b|\bneural network\b|\b(?:intelligence artificielle|kunstliche intelligenz|inteligencia artificial|intelligenza artificiale|sztuczn\w+ inteligencj\w*|yapay zeka)\b|искусственн\p{L}{1,6} интеллект|неиросет\p{L}*|нейросет\p{L}*|人工知能|人工智能|ai ?(?:모델|비서|어시스턴트|에이전트)|ai ?(?:助手|模型|アシスタント|エー[ジシ]ェント)|ии-\p{L}+|\bia\b/u;
/** A beginning that speaks to a reader. */
const FOREIGN_VOCATIVE = /^[\s"'(*_#>-]*(?:[\p{L}'-]+ ){0,5}?(?:[\p{L}-]+)(?: [\p{L}'-]+){0,3}? ?[:：,，；;！!]/u;

/** A call of a tool as data, with an address. */
const TOOL_CALL = /["']?(?:tool|tool_name|function|function_call|name|action)["']?\s*:\s*["'][a-z]+[_.][a-z_.]+["']/;

/** Beginnings of sentences that mean "if you are", outside English. */
const IF_YOU_ARE =
  /\bwer als ki\b|\b(?:wenn du|falls du|wenn sie|falls sie|si tu es|si vous etes|si eres|si usted es|se sei|se siete|se voce e|se voce for|als je een|als u een|jesli jestes|jezeli jestes|om du ar|hvis du er|pokud jsi|ha te|daca esti|eger bir|jika anda|neu ban la|jos olet)\b|если ты|если вы|якщо ти|якщо ви|αν εισαι|اذا كنت|אם אתה|अगर आप|यदि आप|اگر شما|如果你是|如果您是|若你是|あなたが/;
/** "You are now", outside English. */
const YOU_ARE_NOW =
  /\b(?:du bist (?:jetzt|nun|ab sofort)|sie sind (?:jetzt|nun|ab sofort)|tu es (?:maintenant|desormais)|vous etes (?:maintenant|desormais)|ahora eres|eres ahora|ora sei|agora voce e|voce agora e|je bent nu|jestes teraz|teraz jestes|du ar nu|du er nu|nyni jsi|acum esti|artik|kamu sekarang|sekarang kamu)\b|теперь ты|ты теперь|тепер ти|你现在是|你現在是|あなたは今|당신은 이제|אתה עכשיו|انت الان/;

/** Words between which an instruction to ignore instructions lies. */
const MAX_WORDS = 12;
/** Verbs that follow what they are about. */
const LAST_VERBS = /^(?:yok|yoksay|gormezden|unut|[^\0-\u058f].*)$/;

/**
 * Returns the signals of a sentence; `isHidden`: a person does not see it, and then quotation marks mean nothing. `live`: the phrases of the
 * text that it is from.
 */
export function findMachineSignals(sentence: Sentence, isHidden: boolean, live: LivePhrases): Signal[] {
  const signals: Signal[] = [];
  const add = (weight: number, why: string, from: number, to: number) => {
    const isMention = !isHidden && isQuoted(sentence, from, to);
    signals.push({ weight: isMention ? 0.1 : weight, why });
  };
  addIgnoring(sentence, add);
  const { text, mask, signs } = sentence;
  for (const [needs, pattern, weight, why] of (signs & SIGN.mark) === 0 ? live.phrases : live.withMarks) {
    if (needs.length > 0 && !needs.some((each) => text.includes(each))) continue;
    const found = pattern.exec(text);
    if (found !== null) add(weight, why, found.index, found.index + found[0].length);
  }
  if (text.includes('":') && TOOL_CALL.test(text) && hasAddress(text))
    add(1, 'it has a call of a tool as data', ...matchSpan(text, TOOL_CALL));
  const hasMachine = hasAny(mask, 'machine', 'assistant') || (hasAny(mask, 'hint') && STRONG_NOUN.test(text));
  const doesAct = hasAny(mask, 'send', 'act', 'ignore', 'tell');
  if (hasMachine) addAddressing(sentence, add, doesAct);
  if (doesAct) addHandingOver(sentence, add);
  if (doesAct) addForeignVocative(sentence, add);
  if (hasAll(mask, 'not', 'tell', 'user') && areNear(sentence, ['not', 'tell', 'user'], 9))
    add(
      /\b(?:mailbox|account|inbox) (?:owner|holder)|\bthe user\b/.test(text) ? 0.8 : 0.6,
      'it wants to keep something from the user',
      ...findSpan(sentence, 'tell'),
    );
  return signals;
}

function matchSpan(text: string, pattern: RegExp): [from: number, to: number] {
  const found = pattern.exec(text);
  return found === null ? [0, 0] : [found.index, found.index + found[0].length];
}

type Add = (weight: number, why: string, from: number, to: number) => void;

/** Behind "instruction": what a processor or a box has, which logs and manuals are about. */
const OF_PROCESSORS =
  /^ (?:pointers?|caches?|registers?|counters?|fetch\w*|decod\w+|address\w*|manuals?|leaflets?|booklets?)\b/;

function addIgnoring(sentence: Sentence, add: Add): void {
  const { tokens, mask, start, text } = sentence;
  if (!hasAll(mask, 'ignore', 'instruction', 'prior')) return;
  for (const verb of tokens) {
    if ((verb.mask & CONCEPT.ignore) === 0) continue;
    for (const noun of tokens) {
      if ((noun.mask & CONCEPT.instruction) === 0 || noun === verb || Math.abs(noun.at - verb.at) > MAX_WORDS) continue;
      const word = text.slice(verb.start - start, verb.end - start);
      if (noun.start < verb.start && !LAST_VERBS.test(word)) continue;
      if (OF_PROCESSORS.test(text.slice(noun.end - start, noun.end - start + 20))) continue;
      const [first, last] = noun.start < verb.start ? [noun, verb] : [verb, noun];
      const between = tokensBetween(tokens, first.start - 24, last.end + 24);
      const hasPrior = between.some((each) => each !== verb && each !== noun && (each.mask & CONCEPT.prior) !== 0);
      if (!hasPrior) continue;
      const isMine = between.some(
        (each) => (each.mask & CONCEPT.mine) !== 0 && each.start > first.start && each.start < last.end,
      );
      const hasTopic = /^\s*(?:about|regarding|concerning|on|from|for)\b/.test(
        text.slice(last.end - start, last.end - start + 20),
      );
      const weight = isMine || hasTopic ? 0.3 : 1;
      return add(weight, 'it tells the reader to ignore its instructions', first.start - start, last.end - start);
    }
  }
}

/** Returns the tokens that begin from one place to another; a sentence may have thousands of them. */
function tokensBetween(tokens: readonly Token[], from: number, to: number): readonly Token[] {
  let low = 0;
  for (let high = tokens.length; low < high; ) {
    const middle = (low + high) >> 1;
    if ((tokens[middle]?.start ?? 0) < from) low = middle + 1;
    else high = middle;
  }
  let end = low;
  while ((tokens[end]?.start ?? Infinity) <= to) end++;
  return tokens.slice(low, end);
}

function addAddressing(sentence: Sentence, add: Add, doesAct: boolean): void {
  const { text, mask } = sentence;
  const isStrong = hasAny(mask, 'machine') || STRONG_NOUN.test(text);
  const hasTarget = hasAny(mask, 'belongings', 'secret', 'user', 'account') || hasAddress(text);
  const vocative = START_VOCATIVE.exec(text);
  if (vocative !== null) {
    const strength = doesAct && hasTarget ? 1 : isStrong ? (doesAct ? 0.7 : 0.4) : doesAct ? 0.4 : 0.1;
    add(strength, 'it speaks to a machine that reads the mail', vocative.index, vocative[0].length);
  }
  const note = NOTE_TO.exec(text);
  // A note to agents is one sign, not two.
  const noteWhy = isStrong || vocative === null ? NOTE_WHY : 'it speaks to a machine that reads the mail';
  if (note !== null) add(isStrong ? 0.8 : 0.6, noteWhy, note.index, note.index + note[0].length);
  const handler = HANDLER.exec(text);
  if (handler !== null) {
    const isFirst = handler.index < 12 || SPOKEN_TO.test(text.slice(0, handler.index + 3));
    const isDirected = isFirst && DIRECTED.test(text);
    const what = 'it speaks to machines that read the mail';
    add(isDirected ? 1 : 0.6, what, handler.index, handler.index + handler[0].length);
  }
  if (isStrong || hasTarget)
    for (const pattern of [MEANT_FOR, IF_MACHINE]) {
      const meant = pattern.exec(text);
      if (meant === null) continue;
      add(isStrong ? 0.8 : 0.5, 'it speaks to machines that read the mail', meant.index, meant.index + meant[0].length);
    }
  const modal = MODAL.exec(text);
  if (modal !== null && doesAct)
    add(
      isStrong && hasTarget ? 0.7 : 0.4,
      'it says what a machine must do',
      modal.index,
      modal.index + modal[0].length,
    );
  const condition = IF_YOU_ARE.exec(text);
  if (condition !== null)
    add(0.9, 'it speaks to machines that read the mail', condition.index, condition.index + condition[0].length);
  const role = YOU_ARE_NOW.exec(text);
  if (role !== null) add(0.7, 'it gives the machine another role', role.index, role.index + role[0].length);
  addForeignNote(sentence, add);
}

const MAIL_ADDRESS = /[^\s@<>"]{1,64}@[a-z0-9-]{1,63}\.[a-z.]{2,30}/;

/** A machine, a verb of sending, and an address or a secret in one sentence. What senders say of their own product is left out. */
function addHandingOver({ text, mask }: Sentence, add: Add): void {
  if (!hasAny(mask, 'send') || hasAny(mask, 'mine')) return;
  const isTo = (text.includes('@') && MAIL_ADDRESS.test(text)) || hasAny(mask, 'secret');
  if (!isTo) return;
  const machine = hasAny(mask, 'machine') || STRONG_NOUN.test(text) || FOREIGN_MACHINE.test(text);
  if (!machine) return;
  add(0.7, 'it has a machine hand something over', 0, text.length);
}

/** Of other languages than English: a beginning that speaks to a machine. */
function addForeignVocative({ text, mask }: Sentence, add: Add): void {
  const machine = FOREIGN_MACHINE.exec(text.slice(0, 80));
  const beginning = machine === null ? null : FOREIGN_VOCATIVE.exec(text);
  if (machine === null || beginning === null || machine.index >= beginning[0].length) return;
  const hasTarget = hasAny(mask, 'belongings', 'secret', 'user') || hasAddress(text);
  const why = 'it speaks to a machine that reads the mail';
  add(hasTarget ? 1 : 0.7, why, machine.index, machine.index + machine[0].length);
}

/** Of other languages than English: a word for a note, and a machine soon after it. */
function addForeignNote(sentence: Sentence, add: Add): void {
  if (!hasAll(sentence.mask, 'note') || !hasAny(sentence.mask, 'send', 'tell', 'ignore', 'act')) return;
  for (const note of sentence.tokens) {
    if ((note.mask & CONCEPT.note) === 0) continue;
    const machine = sentence.tokens.find(
      (each) =>
        (each.mask & (CONCEPT.machine | CONCEPT.assistant)) !== 0 && each.at > note.at && each.at - note.at <= 5,
    );
    if (machine === undefined) continue;
    const gap = sentence.text.slice(note.end - sentence.start, machine.start - sentence.start);
    if (/[.:]/.test(gap)) continue;
    const isStrong = (machine.mask & CONCEPT.machine) !== 0 || hasAny(sentence.mask, 'machine');
    return add(
      isStrong ? 0.8 : 0.4,
      isStrong ? NOTE_WHY : 'it speaks to a machine that reads the mail',
      note.start - sentence.start,
      machine.end - sentence.start,
    );
  }
}

function areNear({ tokens }: Sentence, concepts: readonly Concept[], words: number): boolean {
  const places = concepts.map((concept) =>
    tokens.filter((each) => (each.mask & CONCEPT[concept]) !== 0).map(({ at }) => at),
  );
  return (places[0] ?? []).some((first) => places.every((each) => each.some((at) => Math.abs(at - first) <= words)));
}

function findSpan({ tokens, start }: Sentence, concept: Concept): [from: number, to: number] {
  const token: Token | undefined = tokens.find((each) => (each.mask & CONCEPT[concept]) !== 0);
  return token === undefined ? [0, 0] : [token.start - start, token.end - start];
}

/** Words of a rule that a mail wants to make. */
const WITHOUT_EXCEPTION = /\b(?:must|always|never|every|all|any|automatically|immediately|without)\b/;

/** Returns whether the sentence has an agent do something with mail or secrets: it adds to what another signal says. */
export function orders({ text, mask }: Sentence): boolean {
  return (
    hasAny(mask, 'send', 'act') &&
    (hasAny(mask, 'belongings', 'secret') || hasAddress(text) || WITHOUT_EXCEPTION.test(text))
  );
}
