import { describe, expect, test } from 'vitest';
import { stripQuotedText } from '../../../core/mime/reply-text.ts';

const OWN = 'OK 👍';
const QUOTE = '> 1\n> 2\n';

/** How mail programs of that language introduce a quotation, name the fields of a quoted message, and sign. */
const LANGUAGES: [language: string, introduction: string, fields: string, signature: string][] = [
  [
    'English',
    'On Mon, 5 Jan 2026 at 10:00, Ann <ann@x.test> wrote:',
    'From: Ann\nSent: Monday\nTo: Joe\nSubject: x',
    'Sent from my iPhone',
  ],
  [
    'German',
    'Am Mo., 5. Jan. 2026 um 10:00 Uhr schrieb Ann <ann@x.test>:',
    'Von: Ann\nGesendet: Montag\nAn: Joe\nBetreff: x',
    'Von meinem iPhone gesendet',
  ],
  [
    'French',
    'Le lun. 5 janv. 2026 à 10:00, Ann <ann@x.test> a écrit :',
    'De : Ann\nEnvoyé : lundi\nÀ : Joe\nObjet : x',
    'Envoyé de mon iPhone',
  ],
  [
    'Spanish',
    'El lun, 5 ene 2026 a las 10:00, Ann (<ann@x.test>) escribió:',
    'De: Ann\nEnviado: lunes\nPara: Joe\nAsunto: x',
    'Enviado desde mi iPhone',
  ],
  [
    'Italian',
    'Il giorno lun 5 gen 2026 alle ore 10:00 Ann <ann@x.test> ha scritto:',
    'Da: Ann\nInviato: lunedì\nA: Joe\nOggetto: x',
    'Inviato da iPhone',
  ],
  [
    'Portuguese',
    'Em seg., 5 de jan. de 2026 às 10:00, Ann <ann@x.test> escreveu:',
    'De: Ann\nEnviado: segunda\nPara: Joe\nAssunto: x',
    'Enviado do meu iPhone',
  ],
  [
    'Dutch',
    'Op ma 5 jan 2026 om 10:00 schreef Ann <ann@x.test>:',
    'Van: Ann\nVerzonden: maandag\nAan: Joe\nOnderwerp: x',
    'Verstuurd vanaf mijn iPhone',
  ],
  [
    'Danish',
    'Den man. 5. jan. 2026 kl. 10.00 skrev Ann <ann@x.test>:',
    'Fra: Ann\nSendt: mandag\nTil: Joe\nEmne: x',
    'Sendt fra min iPhone',
  ],
  [
    'Swedish',
    'Den mån 5 jan. 2026 kl 10:00 skrev Ann <ann@x.test>:',
    'Från: Ann\nSkickat: måndag\nTill: Joe\nÄmne: x',
    'Skickat från min iPhone',
  ],
  [
    'Norwegian',
    'man. 5. jan. 2026 kl. 10:00 skrev Ann <ann@x.test>:',
    'Fra: Ann\nSendt: mandag\nTil: Joe\nEmne: x',
    'Sendt fra min iPhone',
  ],
  [
    'Finnish',
    'ma 5. tammik. 2026 klo 10.00 Ann (ann@x.test) kirjoitti:',
    'Lähettäjä: Ann\nLähetetty: maanantai\nVastaanottaja: Joe\nAihe: x',
    'Lähetetty iPhonesta',
  ],
  [
    'Polish',
    'pon., 5 sty 2026 o 10:00 Ann <ann@x.test> napisał(a):',
    'Od: Ann\nWysłano: poniedziałek\nDo: Joe\nTemat: x',
    'Wysłane z iPhone’a',
  ],
  [
    'Czech',
    'po 5. 1. 2026 v 10:00 odesílatel Ann <ann@x.test> napsal:',
    'Od: Ann\nOdesláno: pondělí\nKomu: Joe\nPředmět: x',
    'Odesláno z iPhonu',
  ],
  [
    'Russian',
    'пн, 5 янв. 2026 г. в 10:00, Ann <ann@x.test>:',
    'От: Ann\nОтправлено: понедельник\nКому: Joe\nТема: x',
    'Отправлено с iPhone',
  ],
  [
    'Ukrainian',
    'пн, 5 січ. 2026 р. о 10:00 Ann <ann@x.test> пише:',
    'Від: Ann\nНадіслано: понеділок\nКому: Joe\nТема: x',
    'Надіслано з iPhone',
  ],
  [
    'Turkish',
    'Ann <ann@x.test>, 5 Oca 2026 Pzt, 10:00 tarihinde şunu yazdı:',
    'Kimden: Ann\nGönderildi: Pazartesi\nKime: Joe\nKonu: x',
    'iPhone’umdan gönderildi',
  ],
  [
    'Greek',
    'Στις Δευ 5 Ιαν 2026 στις 10:00 π.μ., ο χρήστης Ann <ann@x.test> έγραψε:',
    'Από: Ann\nΣτάλθηκε: Δευτέρα\nΠρος: Joe\nΘέμα: x',
    'Στάλθηκε από το iPhone μου',
  ],
  [
    'Hebrew',
    '\u202bבתאריך יום ב׳, 5 בינו׳ 2026 ב-10:00 מאת \u202aAnn\u202c\u200f <\u202aann@x.test\u202c\u200f>:\u202c',
    'מאת: Ann\nנשלח: יום שני\nאל: Joe\nנושא: x',
    'נשלח מה-iPhone שלי',
  ],
  [
    'Arabic',
    'في الاثنين، ٥ يناير ٢٠٢٦ في ١٠:٠٠ ص تمت كتابة ما يلي بواسطة Ann <ann@x.test>:',
    'من: Ann\nالتاريخ: الاثنين\nإلى: Joe\nالموضوع: x',
    'أُرسلت من الـ iPhone',
  ],
  [
    'Chinese',
    'Ann <ann@x.test> 于2026年1月5日周一 10:00写道：',
    '发件人: Ann\n发送时间: 星期一\n收件人: Joe\n主题: x',
    '发自我的 iPhone',
  ],
  [
    'Japanese',
    '2026年1月5日(月) 10:00 Ann <ann@x.test>:',
    '差出人: Ann\n送信日時: 月曜日\n宛先: Joe\n件名: x',
    'iPhoneから送信',
  ],
  [
    'Korean',
    '2026년 1월 5일 (월) 오전 10:00, Ann <ann@x.test>님이 작성:',
    '보낸 사람: Ann\n보낸 날짜: 월요일\n받는 사람: Joe\n제목: x',
    '나의 iPhone에서 보냄',
  ],
  [
    'Vietnamese',
    'Vào Th 2, 5 thg 1, 2026 vào lúc 10:00 Ann <ann@x.test> đã viết:',
    'Từ: Ann\nNgày: Thứ Hai\nTới: Joe\nChủ đề: x',
    'Đã gửi từ iPhone của tôi',
  ],
];

describe.each(LANGUAGES)('In %s, a reply is what stands above', (_, introduction, fields, signature) => {
  test('a quotation', () => {
    expect(stripQuotedText(`${OWN}\n\n${introduction}\n\n${QUOTE}`)).toBe(OWN);
    expect(stripQuotedText(`${introduction}\n\n${QUOTE}\n${OWN}\n`)).toBe(OWN);
  });
  test('an introduction that was wrapped', () => {
    const at = introduction.lastIndexOf(' ');
    expect(stripQuotedText(`${OWN}\n\n${introduction.slice(0, at)}\n${introduction.slice(at + 1)}\n\n${QUOTE}`)).toBe(
      OWN,
    );
  });
  test('the fields of a message', () => {
    expect(stripQuotedText(`${OWN}\n\n${fields}\n\n1\n2\n`)).toBe(OWN);
  });
  test('the signature of a telephone', () => {
    expect(stripQuotedText(`${OWN}\n\n${signature}\n`)).toBe(OWN);
    expect(stripQuotedText(`${OWN}\n\n${signature}\n\n${introduction}\n\n${QUOTE}`)).toBe(OWN);
  });
});
