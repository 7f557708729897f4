import { above, type ReplyCase } from './reply-case.ts';

/** Replies above titles, fields and attributions of further languages and telephones. */
export const TITLED_REPLIES: readonly ReplyCase[] = [
  above(
    'Gmail en, wrapped after comma',
    'Sure.',
    'On Tue, Jan 6, 2026 at 10:11 AM Ann Smith-Longname\n<ann.smith.longname@x.test>\nwrote:\n\nHi Joe,\nsee below.',
  ),
  above('Gmail with no time', 'Sure.', 'On Jan 6, 2026, Ann <ann@x.test> wrote:\n\nHi Joe'),
  above(
    'Original Message with colon',
    'Sure.',
    'Original message:\nFrom: Ann <ann@x.test>\nDate: 6 Jan 2026\nTo: Joe\n\nHi',
  ),
  above(
    'Underscores',
    'Sure.',
    '_____________________________________________\nFrom: Ann Smith\nSent: 06 January 2026 10:11\nTo: Joe\nSubject: RE: Hi\n\nHi Joe',
  ),
  above(
    'Fields, no blank above',
    'Sure.\nThanks',
    'From: Ann Smith <ann@x.test>\nSent: 06 January 2026 10:11\nTo: Joe <joe@dest.test>\nSubject: RE: Hi\n\nHi Joe',
  ),
  above(
    'Fields with importance',
    'Sure.',
    'From: Ann Smith [mailto:ann@x.test]\nSent: 06 January 2026 10:11\nTo: Joe\nCc: Kai; Lea\nSubject: RE: Hi\nImportance: High\n\nHi Joe',
  ),
  above(
    'Dutch Oorspronkelijk',
    'Prima.',
    '-----Oorspronkelijk bericht-----\nVan: Ann [mailto:ann@x.test]\nVerzonden: dinsdag 6 januari 2026 10:11\nAan: Joe\nOnderwerp: Hoi\n\nHoi',
  ),
  above(
    'Danish Oprindelig',
    'Fint.',
    '-----Oprindelig meddelelse-----\nFra: Ann\nSendt: 6. januar 2026 10:11\nTil: Joe\nEmne: Hej\n\nHej',
  ),
  above(
    'Swedish Ursprungligt',
    'Bra.',
    '-----Ursprungligt meddelande-----\nFrån: Ann\nSkickat: den 6 januari 2026 10:11\nTill: Joe\nÄmne: Hej\n\nHej',
  ),
  above(
    'Finnish Alkuperäinen',
    'Ok.',
    '-----Alkuperäinen viesti-----\nLähettäjä: Ann\nLähetetty: 6. tammikuuta 2026 10:11\nVastaanottaja: Joe\nAihe: Hei\n\nHei',
  ),
  above(
    'Czech Original',
    'Dobře.',
    '-----Original Message-----\nOd: Ann\nOdesláno: 6. ledna 2026 10:11\nKomu: Joe\nPředmět: Ahoj\n\nAhoj',
  ),
  above(
    'Hungarian Eredeti üzenet',
    'Jó.',
    '-----Eredeti üzenet-----\nFeladó: Ann\nKüldve: 2026. január 6. 10:11\nCímzett: Joe\nTárgy: Szia\n\nSzia',
  ),
  above(
    'Romanian Mesaj original',
    'Bine.',
    '-----Mesaj original-----\nDe la: Ann\nTrimis: 6 ianuarie 2026 10:11\nCătre: Joe\nSubiect: Salut\n\nSalut',
  ),
  above(
    'Norwegian Opprinnelig',
    'Fint.',
    '-----Opprinnelig melding-----\nFra: Ann\nSendt: 6. januar 2026 10:11\nTil: Joe\nEmne: Hei\n\nHei',
  ),
  above(
    'Polish Oryginalna',
    'Tak.',
    '-----Oryginalna wiadomość-----\nOd: Ann\nWysłano: 6 stycznia 2026 10:11\nDo: Joe\nTemat: Cześć\n\nCześć',
  ),
  above(
    'Turkish',
    'Tamam.',
    '-----Özgün İleti-----\nKimden: Ann\nGönderme Tarihi: 6 Ocak 2026 10:11\nKime: Joe\nKonu: Merhaba\n\nMerhaba',
  ),
  above(
    'Croatian Izvorna poruka',
    'Ok.',
    '-----Izvorna poruka-----\nŠalje: Ann\nPoslano: 6. siječnja 2026. 10:11\nPrima: Joe\nPredmet: Bok\n\nBok',
  ),
  above(
    'Slovene Izvirno sporočilo',
    'Velja.',
    '-----Izvirno sporočilo-----\nOd: Ann\nPoslano: 6. januar 2026 10:11\nZa: Joe\nZadeva: Živjo\n\nŽivjo',
  ),
  above(
    'Bulgarian',
    'Добре.',
    '-----Оригинално съобщение-----\nОт: Ann\nИзпратено: 6 януари 2026 г. 10:11\nДо: Joe\nОтносно: Здравей\n\nЗдравей',
  ),
  above(
    'Greek',
    'Ναι.',
    '-----Αρχικό μήνυμα-----\nΑπό: Ann\nΑποστολή: Τρίτη, 6 Ιανουαρίου 2026 10:11\nΠρος: Joe\nΘέμα: Γεια\n\nΓεια',
  ),
  above('Thai', 'ได้', '-----ข้อความต้นฉบับ-----\nจาก: Ann\nส่ง: 6 มกราคม 2569 10:11\nถึง: Joe\nเรื่อง: สวัสดี\n\nสวัสดี'),
  above(
    'Hebrew original',
    'כן',
    '-----הודעה מקורית-----\nמאת: Ann\nנשלח: 6 ינואר 2026 10:11\nאל: Joe\nנושא: שלום\n\nשלום',
  ),
  above(
    'iPhone de',
    'Ja.',
    'Von meinem iPhone gesendet\n\n> Am 06.01.2026 um 10:11 schrieb Ann <ann@x.test>:\n> \n> Hallo',
  ),
  above(
    'iPhone es',
    'Sí.',
    'Enviado desde mi iPhone\n\n> El 6 ene 2026, a las 10:11, Ann <ann@x.test> escribió:\n> \n> Hola',
  ),
  above(
    'iPhone pt',
    'Sim.',
    'Enviado do meu iPhone\n\n> No dia 6 de jan. de 2026, às 10:11, Ann <ann@x.test> escreveu:\n> \n> Olá',
  ),
  above('iPhone sv', 'Ja.', 'Skickat från min iPhone\n\n> 6 jan. 2026 kl. 10:11 skrev Ann <ann@x.test>:\n> \n> Hej'),
  above('iPhone da', 'Ja.', 'Sendt fra min iPhone\n\n> Den 6. jan. 2026 kl. 10.11 skrev Ann <ann@x.test>:\n> \n> Hej'),
  above(
    'iPhone nl',
    'Ja.',
    'Verstuurd vanaf mijn iPhone\n\n> Op 6 jan 2026 om 10:11 heeft Ann <ann@x.test> het volgende geschreven:\n> \n> Hoi',
  ),
  above(
    'iPhone it',
    'Sì.',
    'Inviato da iPhone\n\n> Il giorno 6 gen 2026, alle ore 10:11, Ann <ann@x.test> ha scritto:\n> \n> Ciao',
  ),
  above(
    'iPhone fr',
    'Oui.',
    'Envoyé de mon iPhone\n\n> Le 6 janv. 2026 à 10:11, Ann <ann@x.test> a écrit :\n> \n> Salut',
  ),
  above(
    'Outlook Android en',
    'Yes.',
    'Get Outlook for Android<https://aka.ms/AAb9ysg>\n________________________________\nFrom: Ann <ann@x.test>\nSent: Tuesday, January 6, 2026 10:11:12 AM\nTo: Joe <joe@dest.test>\nSubject: Hi\n\nHi',
  ),
  above(
    'Outlook mac short',
    'Yes.',
    'From: Ann <ann@x.test>\nDate: Tuesday, 6 January 2026 at 10:11\nTo: Joe <joe@dest.test>\nSubject: Hi\n\nHi',
  ),
  above(
    'Outlook mac de',
    'Ja.',
    'Von: Ann <ann@x.test>\nDatum: Dienstag, 6. Januar 2026 um 10:11\nAn: Joe <joe@dest.test>\nBetreff: Hi\n\nHi',
  ),
  above(
    'Outlook signature and fields',
    'Yes.',
    '--\nJoe\n\nFrom: Ann <ann@x.test>\nSent: Tuesday, January 6, 2026 10:11 AM\nTo: Joe\nSubject: Hi\n\nHi',
  ),
  above('nested bare', 'Yes.', 'On 1/6/26 10:11 AM, Ann wrote:\n> Hi\n>> old\n>>> older'),
  above('quote without space', 'Yes.', 'On 6.1.2026, Ann wrote:\n>Hi\n>there'),
  above('Thunderbird en short', 'Yes.', 'On 1/6/26 10:11, Ann wrote:\n> Hi'),
  above('Apple Notes', 'Yes.', 'On Jan 6, 2026, at 10:11, Ann via Lists <lists@x.test> wrote:\n\n﻿Hi'),
  above('Google Groups', 'Yes.', 'On Tuesday, January 6, 2026 at 10:11:12 AM UTC+1 ann@x.test wrote:\n\n> Hi'),
  above(
    'Google Groups footer',
    'Yes.',
    '-- \nYou received this message because you are subscribed to the Google Groups "Team" group.\nTo unsubscribe from this group, send an email to team+unsubscribe@x.test.',
  ),
  above(
    'Mailman footer',
    'Yes.',
    '> old\n_______________________________________________\nTeam mailing list\nTeam@lists.x.test\nhttps://lists.x.test/team',
  ),
  above(
    'Hotmail old',
    'Yes.',
    '>From: "Ann" <ann@x.test>\n>To: joe@dest.test\n>Subject: Hi\n>Date: Tue, 06 Jan 2004 10:11:12 +0000\n>\n>Hi',
  ),
  above('Date then name', 'Yes.', '2026-01-06 10:11 Ann <ann@x.test>:\n\n> Hi'),
  above('Norwegian Gmail', 'Ja.', 'tir. 6. jan. 2026 kl. 10:11 skrev Ann <ann@x.test>:\n\nHei'),
  above('Danish Gmail unmarked', 'Ja.', 'Den tir. 6. jan. 2026 kl. 10.11 skrev Ann <ann@x.test>:\n\nHej'),
  above('Swedish Gmail', 'Ja.', 'Den tis 6 jan. 2026 kl 10:11 skrev Ann <ann@x.test>:\n\nHej'),
  above('Portuguese PT Gmail', 'Sim.', 'Ann <ann@x.test> escreveu (terça, 6/01/2026 à(s) 10:11):\n\nOlá'),
  above(
    'Ukrainian Outlook',
    'Так.',
    'Від: Ann <ann@x.test>\nДата: вівторок, 6 січня 2026 р. о 10:11\nКому: Joe <joe@dest.test>\nТема: Привіт\n\nПривіт',
  ),
];
