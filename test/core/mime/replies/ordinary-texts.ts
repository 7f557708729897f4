import { above, type ReplyCase, whole } from './reply-case.ts';

const MISTAKEN: readonly (readonly [name: string, text: string])[] = [
  [
    'English',
    'Hi Tom,\n\nI sent the confidential contract to the wrong recipient by mistake. Please delete it and inform me when it is gone.',
  ],
  [
    'German',
    'Hallo Tom,\n\nich habe den vertraulichen Vertrag versehentlich an den falschen Empfänger geschickt. Bitte lösche ihn und informiere mich kurz.',
  ],
  [
    'French',
    'Bonjour Tom,\n\nj’ai envoyé par erreur le contrat confidentiel au mauvais destinataire. Merci de le supprimer et de m’avertir ensuite.',
  ],
  [
    'Spanish',
    'Hola, Tom:\n\nPor error envié el contrato confidencial a otro destinatario. Hay que eliminarlo y avisar hoy mismo al despacho.',
  ],
  [
    'Italian, of an office',
    'Gentile avvocato,\n\nil contratto riservato è stato inviato per errore al destinatario sbagliato. Occorre cancellarlo e avvertire lo studio.',
  ],
  [
    'Dutch',
    'Beste Tom,\n\nhet vertrouwelijke contract ging ten onrechte naar de verkeerde geadresseerde. Wil je het verwijderen en de notaris bellen?',
  ],
  [
    'Polish',
    'Cześć Tom,\n\nprzez pomyłkę wysłałem poufną umowę do niewłaściwego adresata. Proszę ją usunąć i powiadomić kancelarię jeszcze dziś.',
  ],
  [
    'Russian',
    'Добрый день!\n\nЯ по ошибке отправил конфиденциальный договор другому адресату. Удалите его, пожалуйста, и сообщите мне об этом.',
  ],
  [
    'Japanese',
    `佐藤様\n\n${'機密の契約書を誤って別の受信者に送ってしまいました。お手数ですが削除のうえ、ご連絡ください。'.repeat(2)}`,
  ],
  [
    'a lawyer without a first person',
    'Dear Ms Miller,\n\nThe privileged memorandum was sent to the wrong recipient by mistake on Friday. The firm asks that all copies be destroyed and that the court be informed.',
  ],
  [
    'below a name',
    'Tom,\n\nIf the confidential mail reached the wrong recipient by mistake, delete it and inform the office today please.',
  ],
  [
    'a lawyer behind other text',
    'Dear Ms Miller,\n\nThank you for the call.\n\nThe privileged memorandum went to the wrong recipient by mistake on Friday. Opposing counsel must destroy all copies and notify the court.',
  ],
  [
    'a German lawyer with a condition',
    'Guten Tag,\n\ndie Akte liegt bei.\n\nFalls der vertrauliche Vergleich versehentlich an den falschen Empfänger ging, bitte vernichten und Frau Weber informieren.',
  ],
  [
    'the information is confidential',
    'Hi Tom,\n\nThe information you asked for is confidential, so I can only give it to you by telephone. When are you free?',
  ],
  [
    'a message of hers',
    'Hello\n\nThis message is confidential and I would rather not have it forwarded to the rest of the team before Monday, please.',
  ],
  [
    'the contents of a parcel',
    'Hi Tom,\n\nthanks for the parcel.\n\nThe contents are privileged documents that my assistant should disclose to nobody before the hearing next week.',
  ],
];

const DEVICES: readonly (readonly [name: string, last: string])[] = [
  ['ios in usuarios', 'Problema Outlook usuarios nuevos'],
  ['a test', 'Please test Outlook iOS first'],
  ['a crash', 'Outlook crashes since iOS update'],
  ['Spanish services', 'Outlook bloquea varios servicios'],
  ['Portuguese hours', 'Outlook mostra horários errados'],
  ['a German update', 'Outlook startet nach iOS Update nie'],
  ['a French bug', 'Bogue Outlook Android depuis hier'],
  ['a ticket', 'Ticket 4711 Outlook Mac freezes'],
  ['a comparison', 'Outlook Android works, iOS fails'],
  ['an Italian question', 'Outlook Android oppure Gmail Android?'],
  ['a Polish remark', 'Outlook wolno działa na iOS 26'],
  ['an errand', 'Download Outlook from Play Store first'],
  ['a Danish errand', 'Hent Outlook hos Peter først'],
];

/** What people write of secrets, mistakes and devices in the words of disclaimers and programs. Written before the rules that keep them. */
export const ORDINARY_TEXTS: readonly ReplyCase[] = [
  ...MISTAKEN.map(([name, text]) => whole(`sent by mistake: ${name}`, text)),
  ...DEVICES.map(([name, last]) => whole(`a last line of devices: ${name}`, `Hi Ann,\n\nthree things.\n\n${last}`)),
];

/** Paragraphs of companies, with words that are `I` in another language. */
export const DISCLAIMED: readonly ReplyCase[] = [
  above(
    'Czech',
    'Ano.',
    'Tato zpráva je důvěrná a je určena pouze příjemci. Pokud jste ji obdrželi omylem, vymažte ji a informujte odesílatele.',
  ),
  above(
    'Finnish',
    'Sopii.',
    'Tämä viesti on luottamuksellinen ja tarkoitettu vain vastaanottajalle. Jos saitte sen erehdyksessä, poistakaa se ja ilmoittakaa lähettäjälle.',
  ),
  above(
    'Italian',
    'Va bene.',
    'I contenuti di questa comunicazione sono riservati ai destinatari. Qualora sia giunta per errore, si prega di cancellarla e avvisare i mittenti.',
  ),
  above(
    'Danish',
    'Ja.',
    'Indholdet i denne besked er fortroligt og kun til modtageren. Hvis den er kommet frem ved en fejl, bedes den slettet i alle systemer.',
  ),
  above(
    'Croatian',
    'Može.',
    'Ova poruka je povjerljiva i namijenjena je samo primatelju. Ako je stigla greškom, molimo obrišite ju i obavijestite pošiljatelja.',
  ),
  above(
    'Chinese',
    '好的。',
    '本邮件及其附件包含机密信息，仅供指定的收件人阅读和使用，任何其他人不得以任何形式复制、转发或者披露其内容。如果您误收了本邮件，请立即删除，并通知我们。感谢您的理解与合作！',
  ),
  above(
    'Arabic',
    'نعم.',
    'هذه الرسالة من شركتنا وهي سرية ومخصصة لمن أرسلت إليه من المرسل إليهم. إذا وصلت بالخطأ فيرجى حذف الرسالة من كل الأجهزة.',
  ),
  above(
    'English, of the law of the EU',
    'Yes.',
    'Under EU law this transmission is confidential and for the addressee only. If it came in error, destroy it and notify us.',
  ),
  above(
    'three clauses below a line',
    'Yes.',
    '-----\nUnder EU law this transmission is confidential and for the addressee only, who shall notify the company of any disclosure.',
  ),
];

/** Classes and ids of what people sign. */
export const SIGNED_ELEMENTS = [
  'class="contract-signature"',
  'id="digital-signature"',
  'class="e-signature"',
  'class="docusign_signature"',
  'id="tenant-signature"',
  'class="petition-signature wide"',
  'id="second_party_signature"',
] as const;

/** Subject, text and code: services of banks, brands that begin like what other codes are of, and words of shops. */
export const ORDINARY_CODES = [
  ['Sign in', 'Revolut Bank code: 482913', '482913'],
  ['Sign in', 'Your Postbank code: 482913', '482913'],
  ['Anmeldung', 'Ihr Kundenkonto Code: 482913', '482913'],
  ['Anmeldung', 'Ihr Kundenportal-Code lautet 482913', '482913'],
  ['Login', 'Your Deutsche Bank code is 482913', '482913'],
  ['Login', 'PostFinance code: 482913', '482913'],
  ['Login', 'Paysera code: 482913', '482913'],
  ['Login', 'Your Coursera code: 482913', '482913'],
  ['Login', 'Dialpad code: 482913', '482913'],
  ['Login', 'Your Taxfix code is 482913', '482913'],
  ['Login', 'Your Postman code: 482913', '482913'],
  ['Inloggen', 'Uw Rabobank code: 482913', '482913'],
  ['Connexion', 'Votre code Banque Postale : 482913', '482913'],
  ['Giriş', 'Akbank kodu: 482913', '482913'],
  ['Spring', 'Your code: SAVE-BIG', null],
  ['Spring', 'Your code: BEST-DEAL', null],
  ['Frühling', 'Dein Code: MEHR-SPASS', null],
  ['Device', 'Your code: WDJB-MJHT', 'WDJB-MJHT'],
  ['Payment', 'Bank code: 482913\nAccount holder: Joe', null],
] as const;
