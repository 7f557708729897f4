import { above, type ReplyCase } from './reply-case.ts';

const UNMARKED = 'Shall we meet on Tuesday?\nThe room is free from noon.\n\nAnn';
const MARKED = '> Shall we meet on Tuesday?\n> The room is free from noon.\n>\n> Ann';

/** Replies of Outlook, Apple Mail and Gmail in further languages; the original is marked or not. */
export const LOCALIZED_REPLIES: readonly ReplyCase[] = [
  above(
    'Outlook Korean',
    '네, 좋습니다.',
    `________________________________\n보낸 사람: Ann <ann@x.test>\n보낸 날짜: 2026년 1월 6일 화요일 오전 10:11\n받는 사람: joe@dest.test <joe@dest.test>\n제목: 회의\n\n${UNMARKED}`,
  ),
  above(
    'Outlook Traditional Chinese',
    '好的，沒問題。',
    `________________________________\n寄件者: Ann <ann@x.test>\n寄件日期: 2026年1月6日 上午 10:11\n收件者: joe@dest.test <joe@dest.test>\n主旨: 會議\n\n${UNMARKED}`,
  ),
  above(
    'Outlook Arabic',
    'نعم، موافق.',
    `________________________________\nمن: Ann <ann@x.test>\nتم الإرسال: الثلاثاء، 6 يناير 2026 10:11 ص\nإلى: joe@dest.test <joe@dest.test>\nالموضوع: اجتماع\n\n${UNMARKED}`,
  ),
  above(
    'Outlook Hebrew',
    'כן, בסדר.',
    `________________________________\nמאת: Ann <ann@x.test>\nנשלח: יום שלישי 06 ינואר 2026 10:11\nאל: joe@dest.test <joe@dest.test>\nנושא: פגישה\n\n${UNMARKED}`,
  ),
  above(
    'Outlook Turkish',
    'Evet, uygun.',
    `________________________________\nGönderen: Ann <ann@x.test>\nGönderildi: 6 Ocak 2026 Salı 10:11\nKime: joe@dest.test <joe@dest.test>\nKonu: Toplantı\n\n${UNMARKED}`,
  ),
  above(
    'Outlook Greek',
    'Ναι, εντάξει.',
    `________________________________\nΑπό: Ann <ann@x.test>\nΣτάλθηκε: Τρίτη, 6 Ιανουαρίου 2026 10:11 πμ\nΠρος: joe@dest.test <joe@dest.test>\nΘέμα: Συνάντηση\n\n${UNMARKED}`,
  ),
  above(
    'Outlook Slovak',
    'Áno, súhlasím.',
    `________________________________\nOd: Ann <ann@x.test>\nOdoslané: utorok 6. januára 2026 10:11\nKomu: joe@dest.test <joe@dest.test>\nPredmet: Stretnutie\n\n${UNMARKED}`,
  ),
  above(
    'Outlook Ukrainian',
    'Так, добре.',
    `________________________________\nВід: Ann <ann@x.test>\nНадіслано: 6 січня 2026 р. 10:11\nКому: joe@dest.test <joe@dest.test>\nТема: Зустріч\n\n${UNMARKED}`,
  ),
  above(
    'Outlook Vietnamese',
    'Vâng, được ạ.',
    `________________________________\nTừ: Ann <ann@x.test>\nĐã gửi: Thứ Ba, 6 tháng 1, 2026 10:11 SA\nĐến: joe@dest.test <joe@dest.test>\nChủ đề: Cuộc họp\n\n${UNMARKED}`,
  ),
  above(
    'Outlook Indonesian',
    'Baik, setuju.',
    `________________________________\nDari: Ann <ann@x.test>\nDikirim: Selasa, 06 Januari 2026 10:11\nKepada: joe@dest.test <joe@dest.test>\nSubjek: Rapat\n\n${UNMARKED}`,
  ),
  above(
    'Outlook Latvian',
    'Jā, der.',
    `No: Ann <ann@x.test>\nNosūtīts: otrdiena, 2026. gada 6. janvāris 10:11\nKam: joe@dest.test\nTēma: Sapulce\n\n${UNMARKED}`,
  ),
  above(
    'Outlook Serbian',
    'Da, odgovara mi.',
    `Šalje: Ann <ann@x.test>\nPoslato: utorak, 6. januar 2026. 10:11\nZa: joe@dest.test\nTema: Sastanak\n\n${UNMARKED}`,
  ),
  above(
    'Outlook Serbian, Cyrillic',
    'Да, одговара ми.',
    `Шаље: Ann <ann@x.test>\nПослато: уторак, 6. јануар 2026. 10:11\nЗа: joe@dest.test\nТема: Састанак\n\n${UNMARKED}`,
  ),
  above(
    'Outlook Icelandic',
    'Já, það er fínt.',
    `Frá: Ann <ann@x.test>\nSent: þriðjudagur, 6. janúar 2026 10:11\nTil: joe@dest.test\nEfni: Fundur\n\n${UNMARKED}`,
  ),
  above(
    'Outlook Catalan',
    'Sí, perfecte.',
    `De: Ann <ann@x.test>\nEnviat el: dimarts, 6 de gener de 2026 10:11\nPer a: joe@dest.test\nTema: Reunió\n\n${UNMARKED}`,
  ),
  above(
    'Outlook Malay',
    'Ya, boleh.',
    `Daripada: Ann <ann@x.test>\nDihantar: Selasa, 6 Januari 2026 10:11 PG\nKepada: joe@dest.test\nSubjek: Mesyuarat\n\n${UNMARKED}`,
  ),
  above(
    'Outlook Norwegian with Kopi',
    'Ja, det passer.',
    `Fra: Ann <ann@x.test>\nSendt: tirsdag 6. januar 2026 10:11\nTil: joe@dest.test\nKopi: kai@x.test\nEmne: Møte\n\n${UNMARKED}`,
  ),
  above(
    'Outlook Finnish',
    'Kyllä, sopii.',
    `Lähettäjä: Ann <ann@x.test>\nLähetetty: tiistai 6. tammikuuta 2026 10.11\nVastaanottaja: joe@dest.test\nAihe: Kokous\n\n${UNMARKED}`,
  ),
  above(
    'Outlook for iOS in Portuguese',
    'Sim, combinado.',
    `Obter o Outlook para iOS<https://aka.ms/o0ukef>\n________________________________\nDe: Ann <ann@x.test>\nEnviado: terça-feira, janeiro 6, 2026 10:11 AM\nPara: joe@dest.test <joe@dest.test>\nAssunto: Reunião\n\n${UNMARKED}`,
  ),
  above(
    'Outlook, appointment',
    'I will be there.',
    `-----Original Appointment-----\nFrom: Ann <ann@x.test>\nSent: Tuesday, January 6, 2026 10:11 AM\nTo: Joe\nSubject: Review\nWhen: Friday, January 9, 2026 10:00 AM-11:00 AM.\nWhere: Room 1\n\n${UNMARKED}`,
  ),
  above('Apple Mail Japanese', 'はい、承知しました。', `2026/01/06 10:11、Ann <ann@x.test>のメール:\n\n${UNMARKED}`),
  above('Apple Mail Chinese', '好的。', `在 2026年1月6日，10:11，Ann <ann@x.test> 写道：\n\n${UNMARKED}`),
  above('Apple Mail Korean', '네.', `2026. 1. 6. 오전 10:11, Ann <ann@x.test> 작성:\n\n${MARKED}`),
  above('Apple Mail Arabic', 'حسنا.', `في ٦ يناير ٢٠٢٦، الساعة ١٠:١١ ص، كتب/كتبت Ann <ann@x.test>:\n\n${MARKED}`),
  above('Apple Mail Hebrew', 'כן.', `ב-6 בינו׳ 2026, בשעה 10:11, ‏Ann <ann@x.test> כתב/ה:\n\n${MARKED}`),
  above(
    'Apple Mail Dutch',
    'Ja hoor.',
    `Op 6 jan. 2026 om 10:11 heeft Ann <ann@x.test> het volgende geschreven:\n\n${UNMARKED}`,
  ),
  above(
    'Apple Mail Polish',
    'Tak.',
    `Wiadomość napisana przez Ann <ann@x.test> w dniu 6 sty 2026, o godz. 10:11:\n\n${UNMARKED}`,
  ),
  above('Apple Mail Russian', 'Да.', `6 янв. 2026 г., в 10:11, Ann <ann@x.test> написал(а):\n\n${UNMARKED}`),
  above('Apple Mail Turkish', 'Tamam.', `Ann <ann@x.test> şunları yazdı (6 Oca 2026 10:11):\n\n${UNMARKED}`),
  above('Apple Mail Finnish', 'Kyllä.', `Ann <ann@x.test> kirjoitti 6.1.2026 kello 10.11:\n\n${UNMARKED}`),
  above(
    'Apple Mail Greek',
    'Ναι.',
    `Στις 6 Ιαν 2026, στις 10:11 π.μ., ο χρήστης Ann <ann@x.test> έγραψε:\n\n${UNMARKED}`,
  ),
  above('Apple Mail Czech', 'Ano.', `6. 1. 2026 v 10:11, Ann <ann@x.test>:\n\n${UNMARKED}`),
  above(
    'Apple Mail Hungarian',
    'Igen.',
    `Ann <ann@x.test> írta (2026. jan. 6. dátummal, 10:11 időpontban):\n\n${UNMARKED}`,
  ),
  above('Apple Mail Thai', 'ได้ครับ', `Ann <ann@x.test> เขียนเมื่อ 6 ม.ค. 2569 เวลา 10:11:\n\n${MARKED}`),
  above('Apple Mail Indonesian', 'Baik.', `Pada 6 Jan 2026, pukul 10.11, Ann <ann@x.test> menulis:\n\n${UNMARKED}`),
  above('Apple Mail Romanian', 'Da.', `Pe 6 ian. 2026, la 10:11, Ann <ann@x.test> a scris:\n\n${UNMARKED}`),
  above('Apple Mail Slovak', 'Áno.', `6. 1. 2026 o 10:11, Ann <ann@x.test> napísal:\n\n${UNMARKED}`),
  above('Apple Mail Catalan', 'Sí.', `El 6 gen 2026, a les 10:11, Ann <ann@x.test> va escriure:\n\n${UNMARKED}`),
  above('Apple Mail Croatian', 'Može.', `Dana 6. sij 2026., u 10:11, Ann <ann@x.test> je napisao/la:\n\n${UNMARKED}`),
  above(
    'Apple Mail, marks before its introduction',
    'Yes.',
    `> On 6 Jan 2026, at 10:11, Ann <ann@x.test> wrote:\n>\n${MARKED}`,
  ),
  above('Gmail Polish, unmarked', 'Tak.', `W dniu wt., 6 sty 2026 o 10:11 Ann <ann@x.test> napisał(a):\n\n${UNMARKED}`),
  above('Gmail Russian, unmarked', 'Да.', `вт, 6 янв. 2026 г. в 10:11, Ann <ann@x.test>:\n\n${UNMARKED}`),
  above('Gmail Finnish', 'Kyllä.', `ti 6. tammik. 2026 klo 10.11 Ann (ann@x.test) kirjoitti:\n\n${MARKED}`),
  above('Gmail Czech', 'Ano.', `út 6. 1. 2026 v 10:11 odesílatel Ann <ann@x.test> napsal:\n\n${UNMARKED}`),
  above(
    'Gmail Turkish, wrapped',
    'Tamam.',
    `Ann <ann@x.test>, 6 Oca 2026 Sal, 10:11 tarihinde\nşunu yazdı:\n\n${MARKED}`,
  ),
  above('Gmail Traditional Chinese', '好的。', `Ann <ann@x.test> 於 2026年1月6日 週二 上午10:11寫道：\n\n${UNMARKED}`),
  above('Gmail Korean', '네.', `2026년 1월 6일 (화) 오전 10:11, Ann <ann@x.test>님이 작성:\n\n${UNMARKED}`),
  above('Gmail Hebrew', 'כן.', `‫בתאריך יום ג׳, 6 בינו׳ 2026 ב-10:11 מאת ‪Ann‬‏ <‪ann@x.test‬‏>:‬\n\n${MARKED}`),
  above(
    'Gmail Arabic',
    'حسنا.',
    `في الثلاثاء، 6 يناير 2026 في 10:11 ص تمت كتابة ما يلي بواسطة Ann <ann@x.test>:\n\n${MARKED}`,
  ),
  above('Gmail Ukrainian', 'Так.', `вт, 6 січ. 2026 р. о 10:11 Ann <ann@x.test> пише:\n\n${UNMARKED}`),
  above('Gmail Vietnamese', 'Vâng.', `Vào Th 3, 6 thg 1, 2026 vào lúc 10:11 Ann <ann@x.test> đã viết:\n\n${UNMARKED}`),
  above(
    'Gmail Latvian',
    'Jā.',
    `otrd., 2026. g. 6. janv., plkst. 10:11 — lietotājs Ann (<ann@x.test>) rakstīja:\n\n${MARKED}`,
  ),
  above('Gmail Estonian', 'Jah.', `Kuupäev T, 6. jaanuar 2026 kell 10:11 kirjutas Ann <ann@x.test>:\n\n${MARKED}`),
  above(
    'Gmail Slovenian',
    'Velja.',
    `V tor., 6. jan. 2026 ob 10:11 je oseba Ann <ann@x.test> napisala:\n\n${UNMARKED}`,
  ),
  above('Gmail Serbian', 'Важи.', `уто, 6. јан 2026. у 10:11 Ann <ann@x.test> је написао/ла:\n\n${MARKED}`),
  above('Gmail Malay', 'Baik.', `Pada Sel, 6 Jan 2026 pada 10:11 PG Ann <ann@x.test> menulis:\n\n${UNMARKED}`),
  above('Gmail Bengali', 'ঠিক আছে।', `মঙ্গল, ৬ জানু, ২০২৬ তারিখে ১০:১১ AM টায় এ Ann <ann@x.test> লিখেছেন:\n\n${MARKED}`),
  above(
    'Gmail Filipino',
    'Sige.',
    `Noong Mar, Ene 6, 2026 nang 10:11 AM, sumulat si Ann <ann@x.test> ng:\n\n${MARKED}`,
  ),
];
