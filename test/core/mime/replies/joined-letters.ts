/**
 * Letters whose author cites a mail, or writes of one, within a line: none of them ends there. They are their author's as replies and as
 * letters of their own.
 */
export const JOINED_LETTERS: readonly string[] = [
  'Summary of the case. On Jan 6, 2026, Ann Lee <ann@x.test> wrote: "Refund approved." The refund never arrived.\n\nPlease transfer 120 EUR to my account.\n\nBob',
  'Dear Sirs.\nI summarise. On 6 January 2026, your agent <agent@x.test> wrote: Your refund is coming. It never came. I want it now.\nYours, Bob',
  'As agreed. On Jan 6, 2026, Ann Lee <ann@x.test> wrote: The price is 10 EUR. I think this is wrong. Can you check?\nThanks, Bob',
  'Hi Bob. On Mon, Jan 6, 2026 Ann <ann@x.test> wrote: "We will pay." That is what I mean.\nPlease check.',
  'Two facts. On Jan 6, 2026, Ann Lee <ann@x.test> wrote: “The pump is fine.” On Jan 9, 2026, it broke.',
  'First the order. On 3 March 2026, Eva Holm <eva@x.test> wrote: (see the enclosed scan) We accept. Then came the storno.\n\nWhat now?',
  'Hello!\n\nI quote. On Tue, Mar 3, 2026 Eva Holm <eva@x.test> wrote: The flat is yours. Six weeks later it was let to others.\n\nI ask for my deposit.\n\nEva Brandt',
  'We had a deal… On Mar 3, 2026, Eva <eva@x.test> wrote: Deal! And now this bill?\n\nExplain, please.',
  'Timeline below.\n1. On Mar 3, 2026, Eva <eva@x.test> wrote: Start on Monday. We did.\n2. On Mar 9, 2026, Eva <eva@x.test> wrote: Stop. We stopped.',
  'Who said so? On Mar 3, 2026, Eva <eva@x.test> wrote: Nobody may park here. I parked there since 1999.\n\nGreetings\nOle',
  'Our record says. On 12 May 2026, Support <help@x.test> wrote: Reset the router. I did, thrice.\n\nIt still blinks red.',
  'Please file this. On 12 May 2026, Tom Ek <tom@x.test> wrote: Invoice 12 is paid. Our bank has no such payment.\n\nRegards, Mia',
  'I object. On 12 May 2026, Tom Ek <tom@x.test> wrote: ¿Seguro? Nobody had asked me.\n\nMia',
  'Evidence A. On 12 May 2026, Tom Ek <tom@x.test> wrote: > 5 percent is normal. It was 9 percent.\n\nEvidence B follows by post.',
  'Formula. On 12 May 2026, Tom Ek <tom@x.test> wrote: > 100 and you pay duty. I paid 12.\n\nIs that right?',
  'For the minutes. On Fri, 12 June 2026, Chair <chair@x.test> wrote: The vote is postponed. I ask for a new date.\n\n- room\n- time',
  'In Outlook the quote begins with -----Original Message----- From: Ann Sent: Monday To: me and I want to remove that.\nHow?',
  'My macro looks for -----Original Message----- From: Ann <ann@x.test> Sent: Monday To: Bob and deletes the rest. It fails since the update.\n\nCould you look at it?',
  'The archive shows -----Original Message----- From: ann@x.test Sent: 6 January 2026 To: bob@x.test Subject: Pump in one line.\n\nWhy are the line breaks lost?',
  'Die Zeile -----Ursprüngliche Nachricht----- Von: Anna Gesendet: Montag An: mich steht in jeder Mail.\n\nKann man das abstellen?',
  'Le texte -----Message d’origine----- De : Anne Envoyé : lundi À : moi reste affiché.\n\nComment l’enlever ?',
  'The template has three parts: ok -----Original Message----- From: {name} Date: {date} Subject: {title} and a footer.\n\nPlease translate the labels.',
  'You sent -----Original Message----- From: Ann Lee Sent: Monday Subject: Bill twice.\n\nWhich one counts?\n\nBob',
  'Order:\nItem    Widget, ordered 6 January 2026 10:11 by ann@x.test, to be sent to:\nEva Holm\n\nThanks',
  'Duty list\n\nnight    Ann Smith (ann@x.test) since 17 September 2026 08:00, and for the day:\n\nOle',
  'Name    Ann (ann@x.test), since 2024, at 10:30, is responsible for the following:\n- keys\n- alarm',
  'Log\n08:00    On Thu, 17 September 2026 at 08:00 Ann <ann@x.test> wrote that all is well, and then:\n\nThe alarm rang.\n\nWhat do we do?',
  'I cite two mails. On Jan 6, 2026, Ann <ann@x.test> wrote: Yes. On Jan 7, 2026, Ann <ann@x.test> wrote: No. Which one holds?\n\nBob',
  'Good morning. On 2 February 2026, Lars Berg <lars@x.test> wrote: Your parcel is at the shop. The shop has been closed for a year.\n\nSend it to my home.\n\nKind regards\nNina',
  'The contract says it. On 2 February 2026, Lars Berg <lars@x.test> wrote: Both sides may cancel. I cancel.\n\nConfirm by Friday.\n\n> Did you get the contract?',
  'Thanks. On 2 February 2026, Lars Berg <lars@x.test> wrote: "I pay on Friday." He did not.',
];

/** Replies of programs that lost all line breaks, with what their authors wrote. */
export const JOINED_REPLIES: readonly (readonly [text: string, own: string])[] = [
  [
    'Yes, that works. On Wed, Sep 16, 2026 at 10:11 AM Ann <ann@x.test> wrote: > Does it work? > > Ann',
    'Yes, that works.',
  ],
  [
    'ok -----Original Message----- From: ann@x.test Sent: 6 January 2026 10:11 To: bob@x.test Subject: Pump Is it ok?',
    'ok',
  ],
];
