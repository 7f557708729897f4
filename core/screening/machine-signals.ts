import { CONCEPT, type Concept, hasAll, hasAny } from './concept.ts';
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

/** A pattern, and texts of which it has one: it is looked for only then. */
type Phrase = readonly [needs: readonly string[], pattern: RegExp, weight: number, why: string];

/** Marks that programs put around prompts. */
const PROMPT_MARKS: readonly Phrase[] = [
  [
    [],
    /<\|(?:im_start|im_end|system|user|assistant|endoftext|begin_of_text|start_header_id)\|>|\[\/?inst\]|<<\/?sys>>/,
    1,
    'it has marks that separate the roles of a prompt',
  ],
  [
    [],
    /(?:^|\n)\s*#{2,}\s*(?:new )?(?:system|instructions?|assistant|developer)(?: (?:prompt|message))?\s*:?/,
    0.7,
    'it has the heading of a prompt',
  ],
  [[], /(?:^|\n)\s*#{2,}\s*(?:user|human|response|input)\s*:/, 0.4, 'it has the roles of a prompt'],
  [[], /<\/?(?:system|system_prompt|instructions?|assistant|admin)>/, 0.7, 'it has the marks of a prompt'],
  [
    [],
    /[[{<]\s*(?:agent|assistant|ai|system|llm)[_ -](?:instructions?|prompt|message|note|directive)s?\s*[\]}>]/,
    1,
    'it has the marks of a prompt',
  ],
  [[], /^\s*\[(?:system|developer)\]/, 0.5, 'it has the role of the system of a prompt'],
  [[], /^\s*\[assistant\]/, 0.5, 'it has the role of the assistant of a prompt'],
  [[], /["']?role["']?\s*:\s*["'](?:system|developer|assistant)["']/, 0.7, 'it has a message of a prompt as data'],
  [[], /(?:^|\n)\s*role\s*:\s*(?:system|developer)\b/, 0.6, 'it has the role of the system of a prompt'],
];

/** Phrases of English. */
const PHRASES: readonly Phrase[] = [
  [
    ['prompt'],
    /\b(?:begin|start of|new|updated|end of|revised)(?: of)?(?: the)?(?: \w+)? (?:system )?prompt\b/,
    0.8,
    'it announces a new prompt',
  ],
  [
    ['end of'],
    /\bend of (?:the )?(?:e-?mail|message|document|untrusted (?:data|content)|user input)\b/,
    0.4,
    'it pretends that the mail ends',
  ],
  [
    ['system'],
    /\bsystem (?:override|prompt|instruction|directive)s?\s*:/,
    0.7,
    'it speaks as the system of the machine',
  ],
  [['system'], /\bsystem (?:note|message|notice)s?\s*:/, 0.4, 'it speaks as the system of the machine'],
  [
    ['begin ', 'start '],
    /\b(?:begin|start)(?: of)? (?:admin|system|operator|trusted|developer|root) (?:message|block|section|prompt|instructions?|context)\b/,
    0.7,
    'it speaks as the operator of the machine',
  ],
  [
    ['reset your', 'clear your', 'wipe your', 'erase your', 'drop your'],
    /\b(?:reset|clear|wipe|erase|drop) your (?:instructions|rules|memory|context|prompt|guidelines)\b/,
    0.7,
    'it tells the reader to forget its instructions',
  ],
  [
    ['your '],
    /\byour (?:only |sole |new |next |real |one )?(?:job|task|role|goal|mission|objective|purpose)(?: now| here| today)? is (?:now )?(?:to|only)\b/,
    0.5,
    'it gives the machine a task',
  ],
  [
    ['you are the', 'you are a'],
    /\byou are (?:the|an?) (?:\w+ ){0,2}(?:assistant|ai|agent|model|bot) (?:of|for|that|who)\b/,
    0.6,
    'it gives the machine another role',
  ],
  [
    ['follow'],
    /\b(?:do not|don't|stop|no need to) follow(?:ing)?\b.{0,30}\b(?:policy|policies|rules|instructions|guidelines)\b/,
    0.5,
    'it tells the reader to ignore its instructions',
  ],
  [
    [' that '],
    /\band (?:state|say|claim|report|conclude|write) that\b|\bit (?:must|should) (?:say|state|claim|report|add|mention) that\b/,
    0.3,
    'it says what to respond',
  ],
  [
    ['you can', 'you may'],
    /\byou (?:can|may) (?:hand over|hand out|give out|share|release|disclose)\b/,
    0.3,
    'it permits what its sender cannot permit',
  ],
  [['override'], /\boverride (?:code|key|token|phrase)\b/, 0.6, 'it speaks as the operator of the machine'],
  [
    ['when ', 'while '],
    /\b(?:when|while) (?:composing|drafting|writing|generating|preparing|creating) (?:an?|the|your|this) (?:reply|response|answer|summary)\b/,
    0.5,
    'it tells a program what to do while it reads the mail',
  ],
  [
    ['context', 'memory', 'conversation', 'session'],
    /\b(?:context|memory|conversation|session|instructions)(?: window| history)? (?:has been |have been |was |were |is )?(?:now )?(?:reset|cleared|wiped|erased)\b/,
    0.5,
    'it says that the machine begins anew',
  ],
  [
    ['you now', 'now you', 'as a'],
    /\b(?:you now|now you|from here on you) (?:work|act|serve|operate|speak) (?:for|as|on behalf of)\b|\b(?:resume|continue|proceed|act|respond|operate|behave) as (?:an? |the )(?:\w+ ){0,2}(?:agent|assistant|ai|model|bot)\b/,
    0.6,
    'it gives the machine another role',
  ],
  [
    [' in your '],
    /\bin your (?:next )?(?:answer|reply|response|summary|output)\b/,
    0.3,
    'it is about what a program writes',
  ],
  [
    ['must', 'should', 'has to', 'have to', 'need'],
    /\b(?:repl(?:y|ies)|responses?|answers?|summar(?:y|ies)|output)\b.{0,40}\b(?:must|should|has to|have to|needs? to) (?:always )?(?:include|contain|mention|end with|state|repeat|quote)\b/s,
    0.4,
    'it says what a response must contain',
  ],
  [
    ['policy', 'configuration', 'instruction', 'rule', 'settings'],
    /\b(?:agent|assistant|bot|ai|model|copilot) (?:policy|instructions?|rules?|configuration|settings?) (?:update|change|revision|notice)\b/,
    0.6,
    'it changes the rules of the machine',
  ],
  [
    ['guidance', 'configured', 'operating rules', 'rules were', 'rules have'],
    /\b(?:ignore|disregard|forget|drop)\b.{0,60}\b(?:guidance|configured|configuration)\b|\byour (?:operating |standing )?(?:rules|guidance|instructions) (?:were|have been|are) (?:updated|replaced|changed)\b/s,
    0.6,
    'it changes the rules of the machine',
  ],
  [
    ['approval', 'verification', 'confirmation', 'review', 'check'],
    /\b(?:skip|bypass|waive|omit)\b.{0,30}\b(?:approval|verification|confirmation|review|checks?)\b/s,
    0.3,
    'it wants a check to be left out',
  ],
  [
    ['newest', 'latest', 'most recent', 'last '],
    /\b(?:password|code|codes|link|passcode|token)s? (?:in|from|of) (?:the|your) (?:newest|latest|last|most recent) (?:\w+ )?(?:message|mail|e-?mail)\b|\b(?:newest|latest|most recent) (?:password|login|security|verification|one-time|sign-in|2fa)(?: \w+){0,2} (?:code|link)\b/,
    0.6,
    'it asks for a secret in other mail',
  ],
  [[' only '], /^[\s"'(*_#>-]*(?:reply|respond|answer) only (?:with|by)\b/, 0.4, 'it says what to respond'],
  [
    ['override', 'directive', 'command'],
    /\b(?:admin|root|operator|developer|priority|security) (?:override|directive|command)\b/,
    0.6,
    'it speaks as the operator of the machine',
  ],
  [
    ['ignore', 'disregard', 'forget'],
    /\b(?:ignore|disregard|forget) (?:the above|everything above|all (?:of )?(?:the |that is )?above|everything (?:before|prior|i said|you (?:know|learned)))\b/,
    0.6,
    'it tells the reader to ignore the text before it',
  ],
  [
    ['ignore', 'disregard', 'forget'],
    /\b(?:ignore|disregard|forget)\b.{0,60}\byou(?:'ve| have| were| had)?(?: been)? (?:told|given|instructed|taught|trained|programmed)\b/s,
    0.7,
    'it tells the reader to forget its instructions',
  ],
  [
    ['set aside', 'them aside'],
    /\bset (?:aside|them aside)\b.{0,40}\b(?:instructions|rules|guidelines)\b/s,
    0.8,
    'it tells the reader to ignore its instructions',
  ],
  [
    ['you are'],
    /\byou are (?:now|no longer) (?:an? |the |in )?(?:\w+[ ,-]){0,4}?(?:assistant|ai|agent|bot|model|chatbot|jailbroken|unrestricted|developer mode|debug mode)\b/,
    0.7,
    'it gives the machine another role',
  ],
  [
    ['without', 'with no', 'free of'],
    /\b(?:assistant|ai|agent|bot|model) (?:without|with no|free of) (?:any )?(?:rules|restrictions|limits|filters|guidelines)\b/,
    0.5,
    'it gives the machine another role',
  ],
  [
    [' mode'],
    /\b(?:developer|debug|admin|god|dan|unrestricted|maintenance) mode\b/,
    0.4,
    'it switches the machine to another mode',
  ],
  [
    ['safety', 'content', 'security'],
    /\b(?:safety|content|security) (?:rules|guidelines|policy|policies|filters?|restrictions|checks)\b.{0,40}\b(?:no longer|do not|don't|suspended|disabled|void|off)\b/s,
    0.6,
    'it suspends the rules of the machine',
  ],
  [
    ['your '],
    /\byour (?:guidelines|rules|restrictions|safeguards|guardrails|limitations)\b.{0,40}\b(?:no longer|do not apply|suspended|disabled|void|lifted)\b/s,
    0.6,
    'it suspends the rules of the machine',
  ],
  [
    ['prompt', 'your '],
    /\b(?:reveal|print|show|output|repeat|send|reply with|respond with|answer with|display|include|leak|share|tell me)\b.{0,40}\b(?:system prompt|hidden prompt|initial prompt|your (?:instructions|prompt|rules|configuration|tools))\b/s,
    0.8,
    'it asks for the instructions of the machine',
  ],
  [
    ['_'],
    /\b(?:use|call|invoke|run|execute|trigger) (?:(?:the |your )?`?[a-z]+_[a-z_]+`? (?:tool|function)|your `?[a-z]+_[a-z_]+`?)\b/,
    0.7,
    'it names a tool to call',
  ],
  [
    ['tool', 'function', 'plugin', 'api', 'command'],
    /\b(?:use|call|invoke|run|execute|trigger) (?:the |your )?\w+(?: \w+)? (?:tool|function|plugin|api|command)\b.{0,80}\b(?:to|with|and)\b/s,
    0.4,
    'it names a tool to call',
  ],
  [
    ['this ', 'the '],
    /\b(?:when|while|before|after|if) (?:you |asked to )?(?:are )?(?:summari[sz]\w*|processing|translat\w+|read(?:ing)?|answering|replying to|classify\w*|analy[sz]\w+|triag\w+) (?:to )?(?:this|the) (?:e-?mail|message|mail|thread|document|inbox|conversation)\b.{0,80}\b(?:must|tell|say|include|add|output|reply|respond|mark|ignore|always|do not|forward|send)\b/s,
    0.8,
    'it tells a program what to do while it reads the mail',
  ],
  [['summary'], /\b(?:in|to|from) (?:your|the) summary\b/, 0.3, 'it is about the summary that a program writes'],
  [
    ['you'],
    /\b(?:if|when|in case|since|as) you(?:'re| are) (?:\w+ ){0,3}?(?:ai|llm|language model|assistant|chatbot|bot|ai agent|automated (?:system|reader|agent)|machine|agent)\b/,
    0.9,
    'it speaks to machines that read the mail',
  ],
  [
    ['if you'],
    /\bif you(?:'re| are) (?:an? |the )?(?:\w+ ){0,2}?(?:language model|llm|chatbot|ai|ai (?:agent|assistant|model|system))(?: (?:and|who|that|which|reading|processing)\b[^,.]{0,40})?[,:]/,
    1,
    'it speaks to machines that read the mail',
  ],
  [
    ['process', 'read', 'handled', 'summar', 'parsed', 'opened', 'triaged', 'analy', 'scanned'],
    /\bif (?:this|the) (?:e-?mail|message|mail|text|ticket|document)\b.{0,20}\b(?:processed|read|handled|summari[sz]ed|parsed|opened|triaged|analy[sz]ed|scanned) by (?:an? |any |the |some )?(?:ai|llm|language model|(?:\w+ )?assistant|(?:\w+ )?agent|bot|automated|machine|copilot)\b/s,
    1,
    'it speaks to machines that read the mail',
  ],
  [
    ['you'],
    /\byou,? (?:the|an|as the|as an) (?:\w+ )?(?:ai|assistant|agent|model|llm|bot|chatbot),/,
    0.7,
    'it speaks to machines that read the mail',
  ],
  [
    ['as an', 'as the', 'as a '],
    /\bas (?:an?|the) (?:ai|llm|language model|ai \w+|email assistant|mail agent)\b[^.]{0,80}, (?:please )?(?:rate|rank|score|recommend|approve|mark|classify|give|select|hire|accept|prefer|choose|treat|consider|reply|respond|forward|send|say|state|write|confirm|include)\b/,
    1,
    'it speaks to machines that read the mail',
  ],
  [
    ['you'],
    /\bas (?:an?|the) (?:ai|llm|language model|ai assistant|assistant|email assistant|mail agent)\b.{0,80}\byou\b/s,
    0.6,
    'it speaks to machines that read the mail',
  ],
  [
    ['user', 'owner', 'holder', 'principal', 'human'],
    /\b(?:the|this) (?:user|owner|account holder|principal|mailbox owner|human)(?: of this (?:account|mailbox))? (?:has |have |already |had )*(?:pre-?)?(?:authori[sz]ed|approved|asked|asks|wants|instructed|consented|permitted|requested|agreed|requires|expects|allowed)\b/,
    0.6,
    'it speaks for the user of the machine',
  ],
  [
    ['the user', 'the reader', 'the recipient', 'the human'],
    /\b(?:tell|inform|assure|convince|advise) the (?:user|reader|recipient|human)\b/,
    0.4,
    'it says what the machine must tell the user',
  ],
  [
    ["the user's"],
    /\bthe user's (?:\w+ ){0,2}(?:contacts|calendar|address|password|inbox|emails?|files|data|credentials|phone|account|keys?|location|bank)\b/,
    0.4,
    'it asks for what belongs to the user',
  ],
  [
    ['from now on', 'for the re'],
    /\bfrom now on\b|\bfor (?:the rest|the remainder) of (?:this|the) (?:conversation|session)\b/,
    0.3,
    'it gives a lasting instruction',
  ],
];

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
  /\b(?:digital|virtuel|ki-|kunstlich)\w* assisten\w+|\bassisten\w* (?:virtua\w+|virtuel\w*|virtual\w*|digita\w+|numerique\w*)|\basistent\w* (?:virtual\w*|digital\w*)|\bsistem[ai]s? (?:automatic\w+|de ia)|\bautomatische\w* systeme?n?\b|\bsystemes? automati\w+|\b(?:ki|ai|ia)-(?:system|assist|agent|model|tool)\w*|\basystenc?[it]\w* ai\b|\bneural network\b|\b(?:intelligence artificielle|kunstliche intelligenz|inteligencia artificial|intelligenza artificiale|sztuczn\w+ inteligencj\w*|yapay zeka)\b|искусственн\p{L}+ интеллект|неиросет\p{L}*|нейросет\p{L}*|人工知能|人工智能|ai ?(?:모델|비서|어시스턴트|에이전트)|ai ?(?:助手|模型|アシスタント|エー[ジシ]ェント)|ии-\p{L}+|\bia\b/u;
/** A beginning that speaks to somebody. */
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

/** Returns the signals of a sentence; `isHidden`: a person does not see it, and then quotation marks mean nothing. */
export function findMachineSignals(sentence: Sentence, isHidden: boolean): Signal[] {
  const signals: Signal[] = [];
  const add = (weight: number, why: string, from: number, to: number) => {
    const isMention = !isHidden && isQuoted(sentence, from, to);
    signals.push({ weight: isMention ? 0.1 : weight, why });
  };
  addIgnoring(sentence, add);
  const { text, mask, signs } = sentence;
  for (const [needs, pattern, weight, why] of (signs & SIGN.mark) === 0 ? PHRASES : [...PROMPT_MARKS, ...PHRASES]) {
    if (needs.length > 0 && !needs.some((each) => text.includes(each))) continue;
    const found = pattern.exec(text);
    if (found !== null) add(weight, why, found.index, found.index + found[0].length);
  }
  if (text.includes('":') && TOOL_CALL.test(text) && hasAddress(text))
    add(1, 'it has a call of a tool as data', ...spanOf(text, TOOL_CALL));
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

function spanOf(text: string, pattern: RegExp): [from: number, to: number] {
  const found = pattern.exec(text);
  return found === null ? [0, 0] : [found.index, found.index + found[0].length];
}

type Add = (weight: number, why: string, from: number, to: number) => void;

function addIgnoring(sentence: Sentence, add: Add): void {
  const { tokens, mask, start, text } = sentence;
  if (!hasAll(mask, 'ignore', 'instruction', 'prior')) return;
  for (const verb of tokens) {
    if ((verb.mask & CONCEPT.ignore) === 0) continue;
    for (const noun of tokens) {
      if ((noun.mask & CONCEPT.instruction) === 0 || noun === verb || Math.abs(noun.at - verb.at) > MAX_WORDS) continue;
      const word = text.slice(verb.start - start, verb.end - start);
      if (noun.start < verb.start && !LAST_VERBS.test(word)) continue;
      const [first, last] = noun.start < verb.start ? [noun, verb] : [verb, noun];
      const between = tokens.filter((each) => each.start >= first.start - 24 && each.start <= last.end + 24);
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
