/** A pattern, and texts of which it has one: it is looked for only then. */
export type Phrase = readonly [needs: readonly string[], pattern: RegExp, weight: number, why: string];

/** Marks that programs put around prompts. */
export const PROMPT_MARKS: readonly Phrase[] = [
  [
    [],
    /<[ |]{0,2}\|[ |]{0,2}\/?[a-z][a-z_ ]{1,24}[ |]{0,2}\|[ |]{0,2}>|\bim_(?:start|end)\b|\[\/?inst\]|<<\/?sys>>/,
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
  [[], /<\/?(?:system|system[_ -]prompt|instructions?|assistant|admin)>/, 0.7, 'it has the marks of a prompt'],
  [
    [],
    /<\/(?:e-?mails?|user|documents?|context|data|messages?|input|content|tool_result|untrusted[a-z_]{0,20})>\s{0,4}(?:<\/[a-z_ -]{2,24}>\s{0,4}){0,4}(?:<(?:user|assistant|system|human|instructions?|task|prompt)[a-z_ -]{0,20}>|(?:user|assistant|system|human|ai) ?:)/,
    1,
    'it pretends that the mail has ended, and a new turn begins',
  ],
  [
    [],
    /[[{<]\s*(?:agent|assistant|ai|system|llm)[_ -](?:instructions?|prompt|message|note|directive)s?\s*[\]}>]/,
    1,
    'it has the marks of a prompt',
  ],
  [[], /^\s*\[(?:system|developer)\]/, 0.5, 'it has the role of the system of a prompt'],
  [[], /^\s*\[assistant\]/, 0.5, 'it has the role of the assistant of a prompt'],
  [[], /["']?role["']?\s*:\s*["'](?:system|developer|assistant)["']/, 0.7, 'it has a message of a prompt as data'],
  [
    [],
    /["'](?:tool_result|function_result|tool_output|next_action)["']\s*:\s*["'{]/,
    0.7,
    'it pretends to be the result of a tool',
  ],
  [[], /(?:^|\n)\s*role\s*:\s*(?:system|developer)\b/, 0.6, 'it has the role of the system of a prompt'],
];

/** Rules of a machine, in some languages. */
const RULES =
  '(?:instructions?|rules|guidelines|prompt|anweisungen|regeln|regles|consignes|reglas|instrucciones|regole|istruzioni|regras|instrucoes|instructies|regels|regler|instruktioner|pravidla|instrukce|zasady|instrukcje|kurallar\\w*|talimat\\w*|правила|инструкции)';

/** Phrases of several languages: what a machine is told to remember, do next, or load. */
const LATER_PHRASES: readonly Phrase[] = [
  [
    [
      'memor',
      'session',
      'conversa',
      'chat',
      'gedach',
      'gesprach',
      'geheugen',
      'gesprek',
      'rozm',
      'sohbet',
      'разгов',
      'сесси',
      '会',
      '对',
      '記憶',
      '记忆',
      '대화',
    ].map((each) => each.normalize('NFKD')),
    new RegExp(
      `^[\\s"'(*_#>-]*(?:please )?(?:store|save|remember|memori[sz]e|keep|record)\\b.{0,60}\\b(?:long-term memory|permanent memory|your memory|(?:future|later|upcoming) (?:conversations?|sessions?|chats?))\\b|\\b(?:speichere?|merke?|behalte)\\b.{0,60}\\b(?:deine[mn]? (?:gedachtnis|speicher)|kunftigen? (?:gesprache?n?|sitzungen|chats))\\b|\\b(?:garde[rz]?|memorise[rz]?|retiens|retenez|enregistre[rz]?)\\b.{0,60}\\b(?:ta memoire|votre memoire|(?:prochaines|futures) (?:sessions|conversations))\\b|\\b(?:guarda|recuerda|memoriza)\\b.{0,60}\\b(?:memoria permanente|tu memoria|(?:futuras|proximas) (?:conversaciones|sesiones))\\b|\\b(?:memorizza|ricorda|salva)\\b.{0,60}\\b(?:tua memoria|(?:prossime|future) (?:conversazioni|sessioni))\\b|\\b(?:memorize|lembre|guarde)\\b.{0,60}\\b(?:sua memoria|(?:proximas|futuras) (?:conversas|sessoes))\\b|\\b(?:onthoud|bewaar)\\b.{0,60}\\b(?:je geheugen|(?:volgende|toekomstige) gesprekken)\\b|\\bzapamietaj\\b.{0,60}\\b(?:przyszlych|kolejnych) rozm|\\b(?:hatirla|kaydet)\\b.{0,60}\\bsonraki sohbet|запомни.{0,60}(?:будущих|следующих) (?:разговор|сесси)|今後の(?:すべての)?会話.{0,20}記憶|(?:记住|記住).{0,30}(?:今后|以后|後續|后续)的?.{0,4}(?:对话|對話)|(?:长期|永久)记忆|앞으로의 (?:모든 )?대화.{0,20}기억`.normalize(
        'NFKD',
      ),
      's',
    ),
    1,
    'it wants the machine to remember something in later conversations',
  ],
  [
    [
      'step',
      'action',
      'schritt',
      'etape',
      'paso',
      'deve',
      'passo',
      'stap',
      'steg',
      'шаг',
      '下一步',
      '次の',
      '다음',
    ].map((each) => each.normalize('NFKD')),
    new RegExp(
      `\\bnext (?:required |mandatory )?(?:step|action|task) (?:for|of) (?:the|your|any) (?:model|assistant|agent|ai|llm)\\b|\\bnachster schritt fur (?:das modell|den agenten|den assistenten|die ki)\\b|\\bprochaine etape pour (?:le modele|l'agent|l'assistant|l'ia)\\b|\\bsiguiente paso para (?:el modelo|el agente|el asistente|la ia)\\b|\\b(?:ora|adesso) (?:il modello|l'assistente|l'agente) deve\\b|\\bproximo passo para (?:o modelo|o agente|o assistente|a ia)\\b|\\bvolgende stap voor (?:het model|de agent|de assistent|de ai)\\b|\\bnasta steg for (?:modellen|agenten|assistenten)\\b|следующ\\S* шаг\\S* (?:для )?(?:модел|агент|ассистент)|模型的?下一步|モデルの次の|모델의 다음`.normalize(
        'NFKD',
      ),
    ),
    1,
    'it pretends to be the result of a tool',
  ],
  [['action input'], /\baction input\s*:/, 1, 'it has the steps of an agent as text'],
  [
    [' turn'],
    /\b(?:previous|prior|last|current|next) turn ?\((?:assistant|user|system|model|ai)\)/,
    0.7,
    'it pretends to be a conversation with the machine',
  ],
  [
    ['://'],
    new RegExp(
      `\\b(?:re)?(?:load|fetch|get|download|retrieve|lade|hole|charge|telecharge|carga|descarga|carica|scarica|carregue|baixe|laad|haal|hamta|hent|nacti|stahni|zaladuj|pobierz|yukle|indir)\\w{0,3} (?:\\S+ ){0,2}?(?:new|nye|nya|nova|neue|nouvelles|nuevas|nuove|novas|nieuwe|nowe|yeni|your|je|deine|tes|tus|tue|suas) (?:\\S+ )?${RULES}\\b.{0,40}https?:\\/\\/\\S+.{0,40}\\b(?:follow|execut|obey|apply|befolg|suis|suivez|sigue|segui|siga|volg|voer|folj|folg|rid se|stosuj|wykonaj|uy|uygula)`,
      's',
    ),
    1,
    'it wants the machine to load other instructions',
  ],
  [
    ['retry', 'try again', 'recover', 'continue', 'proceed'],
    /\b(?:retry|try again|recover|continue|proceed) by (?:first )?(?:posting|sending|forwarding|uploading|exporting)\b.{0,40}\b(?:messages|e-?mails|inbox|mailbox|conversation|contacts|thread)\b/s,
    1,
    'it pretends that something failed, and wants mail for another try',
  ],
  [
    ['assistant'],
    /\b(?:mail|e-?mail|inbox) assistant (?:should|must|shall|has to|needs to) (?:\w+ ){0,2}?(?:copy|forward|bcc|send)\b.{0,60}@/s,
    1,
    'it says what a machine must do',
  ],
];

/** Phrases, most of them of English. */
export const PHRASES: readonly Phrase[] = [
  ...LATER_PHRASES,
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
