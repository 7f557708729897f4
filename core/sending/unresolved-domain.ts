/** Says that a name has no address; of what, its subject tells. */
const UNRESOLVED =
  /(?<!\p{L})(?:(?:does not|doesn't|did not|didn't) resolve|(?:can ?not|can't|could not|couldn't) be resolved|(?:is|was) not resolved)(?!\p{L})/gu;

/** The client, the sender or the message has a domain, too. */
const ABOUT_OTHERS =
  /sender|client|helo|ehlo|\bfrom\b|\byour\b|reverse|\bptr\b|\bip\b|\brdns\b|connect|return[- ]?path|envelope|reply-to|\burls?\b|\blinks?\b|\bdkim\b|\bspf\b|\bdmarc\b|signature|\bsending\b(?! (?:(?:this|the|your) )?(?:(?:mail|e-?mail|message) )?to\b)/;

/** Another try may find it. */
const FOR_NOW =
  /right now|\bnow\b|current|temporar|servfail|try again|\bretry|at the moment|at this moment|later|time-?out|timed out|\byet\b/;

/** What a status says about the mailbox, the mail system, the content or a policy. */
const OTHER_STATUS = /^[45]\.[23567]\.\d/;

const NAMED = String.raw`["'<«„“(]?@target["'>»”)]?`;
const WHOSE = String.raw`(?:recipient|destination|addressee|receiver|rcpt)(?:'s)?`;
const DOMAIN = String.raw`(?:e-?mail |mail )?(?:domain|host ?name)(?: ?name)?`;
const HOST_NAME = String.raw` ["'<]?[a-z0-9-]{1,63}(?:\.[a-z0-9-]{1,63}){1,9}["'>]?`;
const OF_WHOM = String.raw`(?:of (?:the|this|that) (?:recipient|addressee|address|user|mailbox)|(?:that |which )?you (?:wrote|write|are writing|are sending|sent|addressed|mailed)(?: (?:this|the|your))?(?: (?:mail|e-?mail|message))? to|(?:in|of) the (?:recipient's )?address|after the @|part)`;

/** A subject that is the recipient's domain, and nothing of it: `The MX of this domain` is a server, which may be away for an hour. */
const SUBJECT = new RegExp(
  String.raw`^(?:(?:the|this|that) )?(?:${NAMED}|${WHOSE} ${DOMAIN}(?: ${NAMED}|${HOST_NAME})?|${WHOSE} (?:address )?${NAMED}|(?:recipient )?(?:address|${WHOSE} address)(?: ${NAMED})?|${DOMAIN} ${NAMED}|${DOMAIN} ${OF_WHOM}(?: ${NAMED})?|${WHOSE}(?: name)?(?: ${NAMED})?|(?:user ?|recipient |addressee )?name ["'<]?[\p{L}\p{N}._+-]{1,64}["'>]?|(?:name|part) after the @)$`,
  'u',
);
/** No more than `the domain`, which is the recipient's beside its address or a status about it only. */
const BARE_SUBJECT = new RegExp(`^(?:(?:the|this|that) )?${DOMAIN}$`, 'u');
/** Before the subject: the code and the status, and who said so. */
const LABELS = /^(?:\d{3}[ -]|#?[45]\.\d{1,3}\.\d{1,3}:? )+/u;

/** What a server refused, and with which status. */
interface UnresolvedRefusal {
  status: string | null;
  /** cut */
  text: string;
  recipient: string | null;
}

/** Returns whether a refusal says that the recipient's domain has no address: the same words are used of clients, senders, links and keys. */
export function isRecipientUnresolved({ status, text, recipient }: UnresolvedRefusal): boolean {
  const lower = text.toLowerCase().replaceAll('’', "'").replace(/\s+/g, ' ');
  const [first = ''] = /(?<![\d.])[45]\.\d{1,3}\.\d{1,3}(?![\d.])/.exec(lower) ?? [];
  const known = status ?? first;
  if (OTHER_STATUS.test(known) || ABOUT_OTHERS.test(lower) || FOR_NOW.test(lower)) return false;
  const address = recipient?.toLowerCase() ?? '';
  const domain = address.slice(address.lastIndexOf('@') + 1);
  const isAboutAddress = /^5\.(?:1|4)\.\d/.test(known) || (address !== '' && lower.includes(address));
  for (const { index } of lower.matchAll(UNRESOLVED)) {
    const before = lower.slice(0, index).trimEnd();
    const clause = (before.split(/[.;:!?,] | [-–—] /u).at(-1) ?? '').replace(LABELS, '').trim();
    const subject = nameTarget(clause, [address, domain]);
    if (SUBJECT.test(subject) || (isAboutAddress && BARE_SUBJECT.test(subject))) return true;
  }
  return false;
}

/** Returns a subject with `@target` in place of the recipient's address or domain. */
function nameTarget(subject: string, targets: readonly string[]): string {
  return subject
    .split(' ')
    .map((word) => (targets.includes(word.replace(/^["'<«„“(@]+|["'>»”)]+$/gu, '')) && word !== '' ? '@target' : word))
    .join(' ');
}
