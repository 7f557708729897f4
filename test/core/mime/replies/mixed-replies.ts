import { type ReplyCase, whole } from './reply-case.ts';

/** Replies with several quotations, wrapped lines, signatures and footers. */
export const MIXED_REPLIES: readonly ReplyCase[] = [
  {
    name: 'deep quotes',
    own: `Yes.`,
    text: `Yes.

On 1/6/26, Bob wrote:
> On 1/5/26, Ann wrote:
>> Noon?
> Or one?
`,
  },
  {
    name: 'two attributions',
    own: `Yes.

Ann Smith
Sales`,
    text: `Yes.

Ann Smith
Sales

From: Bob <bob@x.test>
Sent: Tuesday, January 6, 2026 10:11 AM
To: Ann <ann@x.test>
Subject: RE: Lunch

Ok?

From: Ann <ann@x.test>
Sent: Monday, January 5, 2026 10:11 AM
To: Bob
Subject: Lunch

Noon?
`,
  },
  {
    name: 'lost marks wrapped',
    own: `Fine with me.`,
    text: `On Tue, Jan 6, 2026 at 10:11 AM Ann Smith <ann@x.test> wrote:

> We would like to meet you all at noon in the small restaurant beside
the river
> on Tuesday, and then we can talk about everything that you sent us last
week.

Fine with me.
`,
  },
  {
    name: 'iPhone Polish unmarked',
    own: `Tak, pasuje.`,
    text: `Tak, pasuje.

Wysłane z iPhone'a

Czy spotkamy się w południe?
Anna
`,
  },
  {
    name: 'Android Spanish unmarked',
    own: `Sí, perfecto.`,
    text: `Sí, perfecto.

Enviado desde mi dispositivo Samsung Galaxy

¿Nos vemos a mediodía?
Ana
`,
  },
  {
    name: 'Outlook iOS Danish',
    own: `Ja tak.`,
    text: `Ja tak.

Hent Outlook til iOS <https://aka.ms/o0ukef>
________________________________
Fra: Ann <ann@x.test>
Sendt: tirsdag den 6. januar 2026 10:11
Til: Bob <bob@dest.test>
Emne: Frokost

Mødes vi?
`,
  },
  {
    name: 'Outlook Android Finnish',
    own: `Kyllä.`,
    text: `Kyllä.

Hanki Outlook for Android<https://aka.ms/x>
________________________________
Lähettäjä: Ann <ann@x.test>
Lähetetty: tiistai 6. tammikuuta 2026 10.11
Vastaanottaja: Bob
Aihe: Lounas

Tavataanko?
`,
  },
  {
    name: 'attribution with emoji name',
    own: `Ok!`,
    text: `Ok!

On Tue, Jan 6, 2026 at 10:11 AM 🌸 Ann 🌸 <ann@x.test> wrote:

> Noon?
`,
  },
  {
    name: 'attribution with mailto',
    own: `Ok!`,
    text: `Ok!

On Jan 6, 2026, at 10:11 AM, Ann <ann@x.test<mailto:ann@x.test>> wrote:

Noon?
`,
  },
  {
    name: 'three-line wrapped',
    own: `Ok!`,
    text: `Ok!

On Tue, Jan 6, 2026 at 10:11 AM Ann Elizabeth Smith-Johnson via
Customer Support <
support@very-long-domain-name.example.test> wrote:

> Noon?
`,
  },
  {
    name: 'bottom with signature',
    own: `Ja, gern.`,
    text: `Am 06.01.26 um 10:11 schrieb Ann:
> Mittag?

Ja, gern.

-- 
Bob
`,
  },
  {
    name: 'confidentiality below',
    own: `Yes.`,
    text: `Yes.

From: Ann
Sent: Tuesday, January 6, 2026 10:11 AM
To: Bob
Subject: x

Noon?

This email is confidential and intended only for the addressee. If you are not the intended recipient, delete it.
`,
  },
  {
    name: 'external banner then fields',
    own: `Yes.`,
    text: `Yes.

From: Ann <ann@x.test>
Date: Tuesday, 6 January 2026 at 10:11
To: Bob <bob@dest.test>
Subject: x

CAUTION: This email originated from outside.

Noon?
`,
  },
  {
    name: 'Outlook Mac German',
    own: `Ja.`,
    text: `Ja.

Von: Ann <ann@x.test>
Datum: Dienstag, 6. Januar 2026 um 10:11
An: Bob <bob@dest.test>
Betreff: Mittag

Mittag?
`,
  },
  {
    name: 'fields without Subject, Mac',
    own: `Ja.`,
    text: `Ja.

Von: Ann <ann@x.test>
Gesendet: Dienstag, 6. Januar 2026 um 10:11
An: Bob <bob@dest.test>

Mittag?
`,
  },
  {
    name: 'fields with long To list',
    own: `Yes.`,
    text: `Yes.

From: Ann <ann@x.test>
Sent: Tuesday, January 6, 2026 10:11 AM
To: Bob <bob@dest.test>; Carl Carlson <carl@x.test>; Dora Dorason
<dora@x.test>; Emil <emil@x.test>
Cc: Fred <fred@x.test>
Subject: Re: Lunch

Noon?
`,
  },
  {
    name: 'fields in asterisks lines',
    own: `Yes.`,
    text: `Yes.

*From:* Ann <ann@x.test>
*Sent:* Tuesday, January 6, 2026 10:11 AM
*To:* Bob
*Subject:* Lunch
*Importance:* High

Noon?
`,
  },
  {
    name: 'quoted attribution with >',
    own: `Yes.`,
    text: `Yes.

> Am 06.01.2026 um 10:11 schrieb Ann <ann@x.test>:
> 
> Mittag?
`,
  },
  {
    name: 'Apple quoted with nbsp >',
    own: `Yes.`,
    text: `Yes.

> On 6 Jan 2026, at 10:11, Ann <ann@x.test> wrote:
>\u00a0
> Noon?
`,
  },
  {
    name: 'pipe quotes',
    own: `Yes.`,
    text: `Yes.

Ann wrote on 6.1.2026:
| Noon?
| Ann
`,
  },
  {
    name: 'Mail.ru plain',
    own: `Да, хорошо.`,
    text: `Да, хорошо.

Вторник, 6 января 2026, 10:11 +03:00 от Ann <ann@x.test>:
>Встретимся?
>Аня
`,
  },
  {
    name: 'The Bat',
    own: `Hello Ann,

Yes.`,
    text: `Hello Ann,

Yes.

06.01.2026 10:11, you wrote:
> Noon?
`,
  },
  {
    name: '163 plain',
    own: `好的。`,
    text: `好的。



At 2026-01-06 10:11:12, "Ann" <ann@x.test> wrote:
>中午见？
`,
  },
  {
    name: 'QQ plain',
    own: `好的。`,
    text: `好的。

------------------ 原始邮件 ------------------
发件人: "Ann" <ann@x.test>;
发送时间: 2026年1月6日(星期二) 上午10:11
收件人: "Bob"<bob@dest.test>;
主题: 午饭

中午见？
`,
  },
  {
    name: 'QQ variant',
    own: `好的。`,
    text: `好的。

---原始邮件---
发件人: "Ann"<ann@x.test>
发送时间: 2026年1月6日(周二) 上午10:11
收件人: "Bob"<bob@dest.test>;
主题: 午饭

中午见？
`,
  },
  {
    name: 'Japanese reply header',
    own: `はい。`,
    text: `はい。

2026年1月6日(火) 10:11 Ann <ann@x.test>:
>
> お昼は？
`,
  },
  {
    name: 'Japanese angle',
    own: `はい。`,
    text: `はい。

-----Original Message-----
From: Ann [mailto:ann@x.test]
Sent: Tuesday, January 6, 2026 10:11 AM
To: Bob
Subject: 昼

お昼は？
`,
  },
  {
    name: 'Korean naver',
    own: `네.`,
    text: `네.

-----Original Message-----
From: "Ann"<ann@x.test>
To: "Bob"<bob@dest.test>;
Cc:
Sent: 2026-01-06 (화) 10:11:12 (GMT+09:00)
Subject: 점심

점심?
`,
  },
  {
    name: 'Freshdesk marker',
    own: `Thanks.`,
    text: `Thanks.

On Tue, 6 Jan at 10:11 AM , Support <support@x.test> wrote:
Hi Bob,
Noon?
`,
  },
  {
    name: 'Zendesk marker',
    own: `Thanks.`,
    text: `Thanks.

##- Please type your reply above this line -##

Hi Bob
`,
  },
  {
    name: 'ServiceNow Ref',
    own: `Thanks.`,
    text: `Thanks.

From: IT <it@x.test>
To: Bob
Date: 2026-01-06 10:11:12
Subject: INC001

Noon?

Ref:MSG001
`,
  },
  {
    name: 'signature above fields',
    own: `Yes.`,
    text: `Yes.

--
Bob Smith | Sales
+1 555 1234

From: Ann <ann@x.test>
Sent: Tuesday, January 6, 2026 10:11 AM
To: Bob
Subject: x

Noon?
`,
  },
  {
    name: 'list footer below quote',
    own: `Yes.`,
    text: `Yes.

On 6 Jan 2026, Ann wrote:
> Noon?

_______________________________________________
list mailing list
list@x.test
https://x.test/list
`,
  },
  {
    name: 'Gmail forwarded inside reply',
    own: `See below, he says yes.`,
    text: `See below, he says yes.

---------- Forwarded message ---------
From: Carl <carl@x.test>
Date: Tue, Jan 6, 2026 at 10:11 AM
Subject: Re: Lunch
To: Bob <bob@dest.test>

Yes.

On Mon, Jan 5, 2026 at 10:11 AM Ann <ann@x.test> wrote:
> Noon?
`,
  },
];

/** Texts that look like quoted mail. */
export const MIXED_TEXTS: readonly ReplyCase[] = [
  whole(
    'user says wrote',
    `I met Ann on 6 January 2026 and she wrote:

Nothing of interest, really.

Bob`,
  ),
  whole(
    'ticket fields',
    `Please change this booking:

From: Berlin
To: Paris
Date: 6 January 2026

Thanks`,
  ),
  whole(
    'agenda',
    `Agenda:

10:11 Ann
11:00 Bob

-----
See you`,
  ),
  whole(
    'yaml',
    `Here is the config:

from: eth0
to: eth1
subject: none

Regards`,
  ),
  whole(
    'heading dashes',
    `Intro text.

----- Part two -----

More text.

Bob`,
  ),
  whole(
    'form below rule',
    `Data:

________________________________
Name: Bob
Born: 2026-01-06 10:11
City: Bonn
Car: VW

Thanks`,
  ),
  whole(
    'event below rule',
    `Invitation:

________________________________
Title: Party
Date: 2026-01-06 10:11
Place: Bonn
Host: Ann

Come!`,
  ),
  whole(
    'log lines',
    `The log says:

2026-01-06 10:11:12 Ann logged in
2026-01-06 10:12:13 Ann wrote: nothing

Bob`,
  ),
  whole(
    'code',
    `Try this:

\`\`\`
> git log
On branch main
\`\`\`

Bob`,
  ),
  whole(
    'quote of a book',
    `As Goethe wrote:

Es irrt der Mensch.

Bob`,
  ),
  whole(
    'list with >',
    `Click File > Open:

File > Save

Then reply.`,
  ),
  whole(
    'address list',
    `Contacts:

Ann <ann@x.test>
Bob <bob@dest.test>

Bob`,
  ),
  whole(
    'sent from below text',
    `I was sent from Berlin to Paris.

That was hard.

Bob`,
  ),
  whole(
    'device as subject',
    `My phone is broken.

Samsung Galaxy S20

It does not charge.`,
  ),
  whole(
    'tema',
    `Hola:

Tema: reunión
Lugar: Madrid
Hora: 10:11

Saludos`,
  ),
  whole(
    'Thema',
    `Hallo,

Thema: Mittag
Ort: Bonn
Zeit: 10:11 am 06.01.2026

Gruß`,
  ),
  whole(
    'no',
    `No: I cannot.
Date: unknown

Bob`,
  ),
  whole(
    'meeting block',
    `Termin:

Von: 10:00
Bis: 11:00
Datum: 06.01.2026
Ort: Bonn

Gruß`,
  ),
  whole(
    'parcel block',
    `Sendung:

Von: Berlin
An: Paris
Gesendet: 06.01.2026 10:11
Nummer: 4711

Gruß`,
  ),
  whole(
    'poem indent',
    `A poem:

    Roses are red
    Violets are blue

Bob`,
  ),
  whole(
    'on date paragraph',
    `On Tuesday, January 6, 2026 we will close at 10:11.

Please come before.

Bob`,
  ),
  whole(
    'a table with an address and a moment behind spaces',
    `These are on duty:

    early    Ann Smith <ann@x.test>, 17 September 2026 08:00:
    late    Bob Cole <bob@x.test>, 17 September 2026 14:00:

Call them.`,
  ),
  whole(
    'a line about the title of Outlook',
    'The line -----Original Message----- From: Ann is what Outlook adds: how do I remove it?\n\nBob',
  ),
  whole(
    'a line about an introduction',
    'In the mail that begins On Wed, Sep 16, 2026 at 10:11 AM Ann <ann@x.test> wrote: the line breaks are lost.\n\nBob',
  ),
  whole(
    'a sentence that goes on behind an introduction',
    'We met. On Sep 16, 2026 at 10:11 AM Ann <ann@x.test> wrote: she agrees, and I did too.\n\nPlease confirm.',
  ),
  whole(
    'notes of the author below a citation',
    `See [1] for the first part.

> The lid fits all pans.

Links:
------
[1] https://x.test/lids`,
  ),
  {
    name: 'sources of the author below what they cite',
    text: 'My sources are at the end.\n> your claim [1] is wrong\nNo, right.\n> see [1] here\n\nSources:\n[1] https://x.test/mine',
    own: 'My sources are at the end.\n> your claim [1] is wrong\nNo, right.\n> see [1] here\n\nSources:\n[1] https://x.test/mine',
  },
  whole(
    'links of the author, who names no number',
    'See the links below.\n\n> Where is the manual?\n\n[1] https://x.test/manual\n[2] https://x.test/guide',
  ),
  whole('a link of a person', 'The photos are here:\n\nHoliday <https://x.test/photos?from=ann>'),
  {
    name: 'an introduction of Yahoo in the line of its author, in German',
    text: `Der Schirm liegt noch hier.    Am Mittwoch, 23. September 2026 um 10:11:12 MESZ hat Ann <ann@x.test> Folgendes geschrieben:  \n \n Liegt mein Schirm bei Ihnen?`,
    own: 'Der Schirm liegt noch hier.',
  },
  {
    name: 'all in one line, with the quoted text',
    text: 'Yes, that works. On Wed, Sep 16, 2026 at 10:11 AM Ann <ann@x.test> wrote: > Does it work? > > Ann',
    own: 'Yes, that works.',
  },
  {
    name: 'links that a program numbered',
    text: 'It works.\n\nOn Wed, Sep 16, 2026 at 10:11 AM Ann <ann@x.test> wrote:\n> Does it [1] work?\n\nLinks:\n------\n[1] https://x.test/v/2',
    own: 'It works.',
  },
];
