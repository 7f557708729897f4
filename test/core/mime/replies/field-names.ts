/** The names of the fields that mail programs write above a quoted message, and a date. */
export interface FieldNames {
  from: string;
  sent: string;
  to: string;
  cc: string;
  subject: string;
  date: string;
}

const TABLE = `
From | Sent | To | Cc | Subject | Tuesday, January 6, 2026 10:11 AM
Von | Gesendet | An | Cc | Betreff | Dienstag, 6. Januar 2026 10:11
De | Envoyé | À | Cc | Objet | mardi 6 janvier 2026 10:11
De | Enviado | Para | CC | Asunto | martes, 6 de enero de 2026 10:11
De | Enviado el | Para | CC | Asunto | martes, 6 de enero de 2026 10:11
Da | Inviato | A | Cc | Oggetto | martedì 6 gennaio 2026 10:11
De | Enviada em | Para | Cc | Assunto | terça-feira, 6 de janeiro de 2026 10:11
Van | Verzonden | Aan | CC | Onderwerp | dinsdag 6 januari 2026 10:11
Fra | Sendt | Til | Cc | Emne | 6. januar 2026 10:11
Från | Skickat | Till | Kopia | Ämne | den 6 januari 2026 10:11
Fra | Sendt | Til | Kopi | Emne | tirsdag 6. januar 2026 10:11
Frå | Send | Til | Kopi | Emne | tysdag 6. januar 2026 10:11
Lähettäjä | Lähetetty | Vastaanottaja | Kopio | Aihe | tiistai 6. tammikuuta 2026 10.11
Od | Wysłano | Do | DW | Temat | wtorek, 6 stycznia 2026 10:11
Od | Wysłane | Do | DW | Temat | wtorek, 6 stycznia 2026 10:11
Od | Odesláno | Komu | Kopie | Předmět | úterý 6. ledna 2026 10:11
Od | Odoslané | Komu | Kópia | Predmet | utorok 6. januára 2026 10:11
Feladó | Elküldve | Címzett | Másolatot kap | Tárgy | 2026. január 6., kedd 10:11
De la | Trimis | Către | Cc | Subiect | marți, 6 ianuarie 2026 10:11
Expeditorul | Dată | Destinatarul | Cc | Subiectul | marți, 6 ianuarie 2026 10:11
От | Изпратено | До | Копие | Относно | вторник, 6 януари 2026 г. 10:11
От | Отправлено | Кому | Копия | Тема | 6 января 2026 г. 10:11
Отправитель | Дата | Получатель | Копия | Тема | 6 января 2026 г. 10:11
Від | Надіслано | Кому | Копія | Тема | 6 січня 2026 р. 10:11
Od | Poslato | Za | Cc | Naslov | utorak, 6. januar 2026. 10:11
Од | Послато | За | Копија | Тема | уторак, 6. јануар 2026. 10:11
Od | Poslano | Prima | Kopija | Predmet | utorak, 6. siječnja 2026. 10:11
Šalje | Datum | Prima | Kopija | Naslov | utorak, 6. siječnja 2026. 10:11
Od | Poslano | Za | Kp | Zadeva | torek, 06. januar 2026 10:11
Nuo | Išsiųsta | Kam | Kopija | Tema | 2026 m. sausio 6 d., antradienis 10:11
No | Nosūtīts | Kam | Kopija | Temats | otrdiena, 2026. gada 6. janvāris 10:11
Saatja | Saadetud | Adressaat | Koopia | Teema | teisipäev, 6. jaanuar 2026 10:11
Από | Στάλθηκε | Προς | Κοιν. | Θέμα | Τρίτη, 6 Ιανουαρίου 2026 10:11
Kimden | Gönderildi | Kime | Bilgi | Konu | 6 Ocak 2026 Salı 10:11
Gönderen | Gönderme Tarihi | Alıcı | Bilgi | Konu | 6 Ocak 2026 Salı 10:11
מאת | נשלח | אל | עותק | נושא | יום שלישי 06 ינואר 2026 10:11
من | تم الإرسال | إلى | نسخة | الموضوع | الثلاثاء، 6 يناير 2026 10:11
از | ارسال شده | به | رونوشت | موضوع | سه‌شنبه, 6 ژانویه 2026 10:11
प्रेषक | भेजा गया | प्रति | प्रतिलिपि | विषय | मंगलवार, 6 जनवरी 2026 10:11
จาก | ส่ง | ถึง | สำเนา | เรื่อง | 6 มกราคม 2026 10:11
Từ | Đã gửi | Đến | Cc | Chủ đề | 06 Tháng Giêng 2026 10:11
Dari | Dikirim | Kepada | Cc | Subjek | Selasa, 06 Januari 2026 10:11
Daripada | Dihantar | Kepada | Sk | Subjek | Selasa, 6 Januari 2026 10:11
보낸 사람 | 보낸 날짜 | 받는 사람 | 참조 | 제목 | 2026년 1월 6일 화요일 오전 10:11
差出人 | 送信日時 | 宛先 | CC | 件名 | 2026年1月6日 10:11
发件人 | 发送时间 | 收件人 | 抄送 | 主题 | 2026年1月6日 10:11
寄件者 | 寄件日期 | 收件者 | 副本 | 主旨 | 2026年1月6日 10:11
寄件者 | 傳送 | 收件者 | 副本 | 主旨 | 2026年1月6日 10:11
De | Enviat el | Per a | A/c | Assumpte | dimarts, 6 de gener de 2026 10:11
De | Enviado | Para | Cc | Asunto | martes, 6 de xaneiro de 2026 10:11
Nork | Bidaltze-data | Nori | Cc | Gaia | 2026(e)ko urtarrilak 6, asteartea 10:11
Frá | Sent | Til | Afrit | Efni | þriðjudagur, 6. janúar 2026 10:11
Nga | Dërguar më | Për | Cc | Subjekti | e martë, 6 janar 2026 10:11
Од | Испратено | До | Копија | Предмет | вторник, 6 јануари 2026 10:11
Кімнен | Жіберілген күні | Кімге | Көшірме | Тақырыбы | 6 қаңтар 2026 ж. 10:11
გამგზავნი | გაგზავნილია | ადრესატი | ასლი | თემა | 6 იანვარი, 2026 10:11
Kimdən | Göndərilib | Kimə | Surət | Mövzu | 6 yanvar 2026 10:11
থেকে | প্রেরিত | প্রতি | অনুলিপি | বিষয় | 6 জানুয়ারি 2026 10:11
Oddi wrth | Anfonwyd | At | Cc | Pwnc | 06 Ionawr 2026 10:11
Ó | Seolta | Chuig | Cóip | Ábhar | 6 Eanáir 2026 10:11
Van | Gestuur | Aan | Cc | Onderwerp | Dinsdag 06 Januarie 2026 10:11
Vun | Geschéckt | Un | Cc | Sujet | Dënschdeg, 6. Januar 2026 10:11`;

export const FIELD_NAMES: readonly FieldNames[] = TABLE.trim()
  .split('\n')
  .map((row) => {
    const [from = '', sent = '', to = '', cc = '', subject = '', date = ''] = row.split(' | ');
    return { from, sent, to, cc, subject, date };
  });

/** Titles above quoted and forwarded messages. */
export const MESSAGE_TITLES: readonly string[] = [
  'Oorspronklike boodskap',
  'الرسالة الأصليَّة',
  'Mensaxe orixinal',
  'Зыходны ліст',
  'Оригинално писмо',
  'Kemennadenn orinel',
  'Missatge original',
  'Původní zpráva',
  'Neges Wreiddiol',
  'Oprindelig meddelelse',
  'Original-Nachricht',
  'Originalna powěsć',
  'Αρχικό μήνυμα',
  'Mensaje original',
  'Algne kiri',
  'Jatorrizko mezua',
  'Alkuperäinen viesti',
  'Message original',
  'Oarspronklik berjocht',
  'Teachtaireacht Bhunaidh',
  'An teachdaireachd thùsail',
  'મૂળ સંદેશો',
  'הודעה מקורית',
  'मूल संदेश',
  'Izvorna poruka',
  'Eredeti üzenet',
  'Pesan Asli',
  'Upprunalegur póstur',
  'Messaggio originale',
  'საწყისი წერილი',
  '원본 메시지',
  'Originalus laiškas',
  'Оригинална порака',
  'Opprinnelig melding',
  'Oorspronkelijk bericht',
  'Opphavleg melding',
  'Treść oryginalnej wiadomości',
  'Mensagem original',
  'Messadi original',
  'Mesajul original',
  'Исходное сообщение',
  'මුල් ලිපිය',
  'Pôvodná správa',
  'Izvirno sporočilo',
  'Mesazhi Origjinal',
  'Ursprungligt meddelande',
  'Özgün İleti',
  'Початкове повідомлення',
  'Thư Gốc',
  '原始消息',
  '原始郵件',
  'Ursprüngliche Mitteilung',
  'Original Appointment',
  'Edelleenlähetetty viesti',
  'Далее сообщение',
  'Исходное письмо',
  '元のメール',
  '원본메일',
];
