import { above, type ReplyCase } from './reply-case.ts';

/** Replies as mail programs write them, in many languages. */
export const CLIENT_REPLIES: readonly ReplyCase[] = [
  above(
    'French webmail, fields below equals signs',
    'Bonjour,\n\nOui, mardi me convient.\n\nCordialement,\nLuc',
    `========================================
De : Anne Petit
Date envoi : mardi 6 janvier 2026 10:11
À : luc@dest.test
Objet : Réunion

Est-ce que mardi vous convient ?
Anne`,
  ),
  above(
    'Orange webmail',
    "D'accord, merci.",
    `> Message du 06/01/26 10:11
> De : "Anne Petit" <anne@x.test>
> A : luc@dest.test
> Copie à :
> Objet : Réunion
>
> Est-ce que mardi vous convient ?`,
  ),
  above(
    'La Poste webmail',
    "D'accord, merci.",
    `Message du 06/01/26 10:11
De : "Anne Petit" <anne@x.test>
A : luc@dest.test
Objet : Réunion

Est-ce que mardi vous convient ?`,
  ),
  above(
    'SFR webmail',
    "C'est noté.",
    `=======================================
  Message du : 06/01/2026 10:11
  De : "Anne Petit " <anne@x.test>
  A : luc@dest.test
  Sujet : Réunion
=======================================

Est-ce que mardi vous convient ?`,
  ),
  above(
    'Zimbra French',
    "C'est noté.",
    `----- Mail original -----
De: "Anne Petit" <anne@x.test>
À: "Luc" <luc@dest.test>
Envoyé: Mardi 6 Janvier 2026 10:11:12
Objet: Réunion

Est-ce que mardi vous convient ?`,
  ),
  above(
    'English, wrote without a colon',
    'Noon is fine.',
    `On Tuesday, 6 January 2026, Ann Smith <ann@x.test> wrote

> Shall we eat at noon?`,
  ),
  above(
    'English, wrote without a colon or marks',
    'Noon is fine.',
    `On Tue, Jan 6, 2026 at 10:11 AM Ann Smith <ann@x.test> wrote

Shall we eat at noon?
Ann`,
  ),
  above(
    'German, schrieb without a colon',
    'Passt.',
    `Am 06.01.2026 um 10:11 schrieb Anna Berg <anna@x.test>

> Essen wir um zwölf?`,
  ),
  above(
    'Spanish, escribió without a colon',
    'Vale.',
    `El 6 ene 2026, a las 10:11, Ana Ruiz <ana@x.test> escribió

> ¿Comemos a las doce?`,
  ),
  above(
    'iPhone, the original unmarked below',
    'Yes, please.',
    `Sent from my iPhone

On Jan 6, 2026, at 10:11 AM, Ann Smith <ann@x.test> wrote:

Shall we eat at noon?
Ann`,
  ),
  above(
    'BlackBerry, dashes and fields',
    'Yes, please.',
    `Sent via BlackBerry from T-Mobile

-----Original Message-----
From: "Ann Smith" <ann@x.test>
Date: Tue, 6 Jan 2026 10:11:12
To: <joe@dest.test>
Subject: Lunch

Shall we eat at noon?`,
  ),
  above(
    'Android in German, the original below',
    'Ja, gern.',
    `Von meinem Samsung Galaxy Smartphone gesendet.

-------- Ursprüngliche Nachricht --------
Von: Anna Berg <anna@x.test>
Datum: 06.01.26 10:11 (GMT+01:00)
An: joe@dest.test
Betreff: Essen

Essen wir um zwölf?`,
  ),
  above(
    'Telephone without an introduction',
    'Yes, please.',
    `Sent from my Verizon Wireless 4G LTE smartphone

Hi Joe,
shall we eat at noon on Tuesday?
Best, Ann`,
  ),
  above(
    'French telephone without an introduction',
    'Oui, très bien.',
    `Envoyé de mon iPad

Bonjour Luc, mangeons-nous ensemble mardi à midi ?
Anne`,
  ),
  above(
    'Japanese telephone without an introduction',
    'はい、大丈夫です。',
    `iPhoneから送信

火曜日の正午に昼食はいかがですか。場所はいつもの店です。
田中`,
  ),
  above(
    'German telephone, rewrapped original',
    'Geht klar.',
    `Von meinem iPhone gesendet

Hallo Joe, wir essen am Dienstag um zwölf Uhr in der Kantine,
und danach besprechen wir den Plan für das nächste Jahr.
Anna`,
  ),
  above(
    'Quotation that lost its marks',
    'Agreed.',
    `On Tue, Jan 6, 2026 at 10:11 AM, Ann Smith wrote:
> The parcel with the number 4711 arrived
broken this morning, and the box was wet.
> Could you send a new one
this week?
> Ann`,
  ),
  above(
    'Quotation of which the wrapped lines lost their marks',
    'OK.',
    `Ann Smith <ann@x.test> wrote on 06/01/2026 10:11:
> The parcel with the number 4711 arrived broken this
morning
> and the box was wet. Could you send a new one before
Friday?
>
> Ann`,
  ),
  above(
    'Outlook French',
    'Bien reçu.',
    `De : Anne Petit <anne@x.test>
Envoyé : mardi 6 janvier 2026 10:11
À : Luc <luc@dest.test>
Objet : Réunion

Est-ce que mardi vous convient ?`,
  ),
  above(
    'Outlook Swedish',
    'Det går bra.',
    `Från: Anna Berg <anna@x.test>
Skickat: den 6 januari 2026 10:11
Till: joe@dest.test
Ämne: Lunch

Ska vi äta klockan tolv?`,
  ),
  above(
    'Outlook Romanian',
    'Da, sigur.',
    `De la: Ana Pop <ana@x.test>
Trimis: marți, 6 ianuarie 2026 10:11
Către: joe@dest.test
Subiect: Prânz

Mâncăm la douăsprezece?`,
  ),
  above(
    'Outlook Hungarian',
    'Rendben.',
    `Feladó: Kiss Anna <anna@x.test>
Elküldve: 2026. január 6., kedd 10:11
Címzett: joe@dest.test
Tárgy: Ebéd

Ebédelünk délben?`,
  ),
  above(
    'Outlook Croatian',
    'U redu.',
    `Šalje: Ana Horvat <ana@x.test>
Poslano: 6. siječnja 2026. 10:11
Prima: joe@dest.test
Predmet: Ručak

Jedemo li u podne?`,
  ),
  above(
    'Outlook Bulgarian',
    'Добре.',
    `От: Анна Петрова <anna@x.test>
Изпратено: 6 януари 2026 г. 10:11
До: joe@dest.test
Относно: Обяд

Ще обядваме ли в дванайсет?`,
  ),
  above(
    'Outlook Slovenian',
    'Velja.',
    `Od: Ana Novak <ana@x.test>
Poslano: torek, 06. januar 2026 10:11
Za: joe@dest.test
Zadeva: Kosilo

Greva na kosilo?`,
  ),
  above(
    'Outlook Thai',
    'ได้ครับ',
    `จาก: Anna <anna@x.test>
ส่ง: 6 มกราคม 2026 10:11
ถึง: joe@dest.test
เรื่อง: อาหารกลางวัน

กินข้าวเที่ยงไหม`,
  ),
  above(
    'Outlook Lithuanian',
    'Gerai.',
    `Nuo: Ana <ana@x.test>
Išsiųsta: 2026 m. sausio 6 d. 10:11
Kam: joe@dest.test
Tema: Pietūs

Ar pietausime?`,
  ),
  above(
    'Outlook Estonian below a line',
    'Sobib.',
    `________________________________
Saatja: Anna Tamm <anna@x.test>
Saadetud: 6. jaanuar 2026 10:11
Adressaat: joe@dest.test
Teema: Lõuna

Kas sööme?`,
  ),
  above(
    'Gmail Hungarian',
    'Rendben.',
    `Kiss Anna <anna@x.test> ezt írta (időpont: 2026. jan. 6., K, 10:11):

> Ebédelünk délben?`,
  ),
  above(
    'Gmail Romanian',
    'Da.',
    `În mar., 6 ian. 2026 la 10:11, Ana Pop <ana@x.test> a scris:

> Mâncăm?`,
  ),
  above(
    'Gmail Croatian',
    'Može.',
    `uto, 6. sij 2026. u 10:11 Ana Horvat <ana@x.test> napisao je:

> Jedemo li?`,
  ),
  above(
    'Gmail Indonesian',
    'Baik.',
    `Pada tanggal Sel, 6 Jan 2026 pukul 10.11 Ana <ana@x.test> menulis:

> Makan siang?`,
  ),
  above(
    'Gmail Thai',
    'ได้',
    `เมื่อ อ. 6 ม.ค. 2026 เวลา 10:11 Ana <ana@x.test> เขียนว่า:

> กินข้าวไหม`,
  ),
  above(
    'Gmail Lithuanian',
    'Gerai.',
    `2026-01-06, an, 10:11 Ana <ana@x.test> rašė:

> Pietūs?`,
  ),
  above(
    'Gmail Slovak',
    'Dobre.',
    `ut 6. 1. 2026 o 10:11 Anna Nová <anna@x.test> napísal(a):

> Obed?`,
  ),
  above(
    'Gmail Catalan',
    'D\u2019acord.',
    `Missatge de Ana <ana@x.test> del dia dt., 6 de gen. 2026 a les 10:11:

> Dinem?`,
  ),
  above(
    'Gmail Hindi',
    'ठीक है।',
    `मंगल, 6 जन॰ 2026 को 10:11 पर Ana <ana@x.test> ने लिखा:

> खाना?`,
  ),
  above(
    'Gmail Bulgarian',
    'Добре.',
    `На вт, 6.01.2026 г. в 10:11 Анна <anna@x.test> написа:

> Обяд?`,
  ),
  above(
    'Gmail Persian',
    'باشه',
    `در تاریخ سه‌شنبه ۶ ژانویهٔ ۲۰۲۶ ساعت ۱۰:۱۱ Ana <ana@x.test> نوشت:

> ناهار؟`,
  ),
  above(
    'Apple Mail, wrapped in three lines',
    'Yes.',
    `On Tuesday the sixth of January 2026, at ten past
ten in the morning, Ann Smith
<ann.smith@long-name.example.test> wrote:

> Lunch?`,
  ),
  above(
    'Apple Mail French, wrapped',
    'Oui.',
    `Le 6 janv. 2026 à 10:11, Anne Petit
<anne.petit@x.test>
a écrit :

> Déjeuner ?`,
  ),
  above(
    'Apple Mail, no marks below',
    'Yes.',
    `On 6 Jan 2026, at 10:11, Ann Smith <ann@x.test> wrote:

Lunch?

Ann`,
  ),
  above(
    'Thunderbird German',
    'Ja.',
    `Am 06.01.26 um 10:11 schrieb Anna Berg:
> Mittagessen?`,
  ),
  above(
    'Thunderbird, name and date reversed',
    'Yes.',
    `Ann Smith wrote on 1/6/2026 10:11 AM:
> Lunch?`,
  ),
  above(
    'mutt',
    'Yes.',
    `* Ann Smith <ann@x.test> [2026-01-06 10:11]:
> Lunch?`,
  ),
  above(
    'mutt with a number',
    'Yes.',
    `On Tue, Jan 06, 2026 at 10:11:12AM +0100, Ann Smith wrote:
> Lunch?`,
  ),
  above(
    'Gnus',
    'Yes.',
    `>>>>> "Ann" == Ann Smith <ann@x.test> writes:

    Ann> Lunch?
    Ann> At noon?`,
  ),
  above(
    'Pine',
    'Yes.',
    `On Tue, 6 Jan 2026, Ann Smith wrote:

> Lunch?`,
  ),
  above(
    'Outlook Express',
    'Yes.',
    `----- Original Message ----- 
From: "Ann Smith" <ann@x.test>
To: <joe@dest.test>
Sent: Tuesday, January 06, 2026 10:11 AM
Subject: Lunch

> Lunch?`,
  ),
  above(
    'Lotus Notes',
    'Yes.',
    `Ann Smith/HQ/Dest
01/06/2026 10:11 AM

To
Joe/HQ/Dest@DEST
cc

Subject
Lunch

Shall we eat at noon?`,
  ),
  above(
    'Lotus Notes, compact',
    'Yes.',
    `From:   Ann Smith/HQ/Dest
To:     Joe/HQ/Dest@DEST
Date:   01/06/2026 10:11 AM
Subject:        Lunch

Shall we eat at noon?`,
  ),
  above(
    'GroupWise',
    'Yes.',
    `>>> Ann Smith <ann@x.test> 1/6/2026 10:11 AM >>>
Shall we eat at noon?`,
  ),
  above(
    'GroupWise, other form',
    'Yes.',
    `>>> On 1/6/2026 at 10:11 AM, in message <X.GW@x.test>, "Ann Smith"
<ann@x.test> wrote:
> Shall we eat at noon?`,
  ),
  above(
    'Foxmail',
    '好的。',
    `------------------
Anna
2026-01-06

-------------------------------------------------------------
发件人：anna@x.test
发送日期：2026-01-06 10:11
收件人：joe@dest.test
主题：午饭

一起吃午饭吗？`,
  ),
  above(
    'QQ Mail',
    '好的。',
    `------------------ 原始邮件 ------------------
发件人: "Anna"<anna@x.test>;
发送时间: 2026年1月6日(星期二) 上午10:11
收件人: "joe"<joe@dest.test>;
主题: 午饭

一起吃午饭吗？`,
  ),
  above(
    'NetEase',
    '好的。',
    `在 2026-01-06 10:11:12，"Anna" <anna@x.test> 写道：

一起吃午饭吗？`,
  ),
  above(
    'NetEase, telephone',
    '好的。',
    `发自我的网易邮箱手机版

---- 回复的原邮件 ----
| 发件人 | Anna<anna@x.test> |
| 日期 | 2026年01月06日 10:11 |
| 收件人 | joe@dest.test |
| 主题 | 午饭 |

一起吃午饭吗？`,
  ),
  above(
    'Naver',
    '네.',
    `-----Original Message-----
From: "안나"<anna@x.test>
To: <joe@dest.test>;
Cc:
Sent: 2026-01-06 (화) 10:11:12 (GMT+09:00)
Subject: 점심

점심 먹을까요?`,
  ),
  above(
    'Becky! in Japanese',
    'はい。',
    `On Tue, 6 Jan 2026 10:11:12 +0900
田中 <tanaka@x.test> wrote:

> 昼食はいかがですか。`,
  ),
  above(
    'Gmail Japanese',
    'はい。',
    `2026年1月6日(火) 10:11 田中 <tanaka@x.test>:

> 昼食はいかがですか。`,
  ),
  above(
    'Outlook Japanese',
    '承知しました。',
    `差出人: 田中 <tanaka@x.test>
送信日時: 2026年1月6日 10:11
宛先: joe@dest.test
件名: 昼食

昼食はいかがですか。`,
  ),
  above(
    'Yahoo Japan telephone',
    '了解です。',
    `Yahoo!メール for iPhoneから送信

2026/01/06 10:11、田中 <tanaka@x.test>のメール:

昼食はいかがですか。`,
  ),
  above(
    'Yahoo Mail',
    'Yes.',
    `    On Tuesday, January 6, 2026 at 10:11:12 AM GMT+1, Ann Smith <ann@x.test> wrote:  
 
 Lunch?`,
  ),
  above(
    'AOL',
    'Yes.',
    `-----Original Message-----
From: Ann Smith <ann@x.test>
To: joe <joe@dest.test>
Sent: Tue, Jan 6, 2026 10:11 am
Subject: Lunch

Shall we eat at noon?`,
  ),
  above(
    'ProtonMail',
    'Yes.',
    `Sent with Proton Mail secure email.

------- Original Message -------
On Tuesday, January 6th, 2026 at 10:11 AM, Ann Smith <ann@x.test> wrote:

> Lunch?`,
  ),
  above(
    'Tutanota',
    'Yes.',
    `Sent with Tuta; enjoy secure & ad-free emails.

6 Jan 2026, 10:11 by ann@x.test:

> Lunch?`,
  ),
  above(
    'Zoho',
    'Yes.',
    `---- On Tue, 06 Jan 2026 10:11:12 +0100 Ann Smith <ann@x.test> wrote ----

Lunch?`,
  ),
  above(
    'Zoho, older',
    'Yes.',
    `============ Forwarded message ============
From : Ann Smith <ann@x.test>
To : <joe@dest.test>
Date : Tue, 06 Jan 2026 10:11:12 +0100
Subject : Lunch

Shall we eat at noon?`,
  ),
  above(
    'mail.ru',
    'Да.',
    `--
Отправлено из Mail.ru для Android

вторник, 6 января 2026 г., 10:11 +03:00 от Анна <anna@x.test>:

Пообедаем?`,
  ),
  above(
    'Yandex',
    'Да.',
    `06.01.2026, 10:11, "Анна" <anna@x.test>:

> Пообедаем?`,
  ),
  above(
    'Outlook telephone in Russian',
    'Да.',
    `Скачать Outlook для iOS
________________________________
От: Анна <anna@x.test>
Отправлено: вторник, 6 января 2026 г. 10:11
Кому: joe@dest.test
Тема: Обед

Пообедаем?`,
  ),
  above(
    'Outlook telephone in Spanish',
    'Sí.',
    `Obtener Outlook para Android
________________________________
De: Ana <ana@x.test>
Enviado: martes, 6 de enero de 2026 10:11
Para: joe@dest.test
Asunto: Comida

¿Comemos?`,
  ),
  above(
    'Samsung in Spanish',
    'Sí.',
    `Enviado desde mi Samsung Mobile de Claro
-------- Mensaje original --------
De: Ana <ana@x.test> 
Fecha: 6/1/26  10:11  (GMT-03:00) 
A: joe@dest.test 
Asunto: Comida 

¿Comemos?`,
  ),
  above(
    'Telephone in Portuguese',
    'Sim.',
    `Enviado do meu smartphone Samsung Galaxy.
-------- Mensagem original --------
De: Ana <ana@x.test>
Data: 06/01/2026 10:11 (GMT-03:00)
Para: joe@dest.test
Assunto: Almoço

Vamos almoçar?`,
  ),
  above(
    'Telephone in Italian',
    'Sì.',
    `Inviato dal mio telefono Huawei


-------- Messaggio originale --------
Da: Anna <anna@x.test>
Data: mar 6 gen 2026, 10:11
A: joe@dest.test
Oggetto: Pranzo

Pranziamo?`,
  ),
  above(
    'Help desk line',
    'It works now.',
    `##- Please type your reply above this line -##

Your request (4711) was updated.

Ann, Jan 6, 10:11:
Does it work?`,
  ),
  above(
    'Reply line with dashes',
    'It works now.',
    `--- Reply above this line ---

Ann commented on the ticket:

Does it work?`,
  ),
  above(
    'Roundcube',
    'Ja.',
    `---
Anna Berg schrieb am 06.01.2026 10:11:

> Mittagessen?`,
  ),
  above(
    'Roundcube French',
    'Oui.',
    `Le 2026-01-06 10:11, Anne Petit a écrit :

> Déjeuner ?`,
  ),
  above(
    'Horde',
    'Ja.',
    `Zitat von Anna Berg <anna@x.test>:

> Mittagessen?`,
  ),
  above(
    'Horde English',
    'Yes.',
    `Quoting Ann Smith <ann@x.test>:

> Lunch?`,
  ),
  above(
    'SquirrelMail',
    'Yes.',
    `> Ann Smith said:
> Lunch?`,
  ),
  above(
    'Evolution',
    'Yes.',
    `On Tue, 2026-01-06 at 10:11 +0100, Ann Smith wrote:
> Lunch?`,
  ),
  above(
    'KMail',
    'Ja.',
    `Am Dienstag, 6. Januar 2026, 10:11:12 schrieb Anna Berg:
> Mittagessen?`,
  ),
  above(
    'The Bat!',
    'Да.',
    `Вы писали 6 января 2026 г., 10:11:12:

> Пообедаем?`,
  ),
  above(
    'Fastmail',
    'Yes.',
    `On Tue, Jan 6, 2026, at 10:11, Ann Smith wrote:
> Lunch?`,
  ),
  above(
    'HEY',
    'Yes.',
    `On January 6, 2026, Ann Smith <ann@x.test> wrote:
> Lunch?`,
  ),
  above(
    'eM Client',
    'Yes.',
    `------ Original Message ------
From "Ann Smith" <ann@x.test>
To joe@dest.test
Date 1/6/2026 10:11:12 AM
Subject Lunch

Shall we eat at noon?`,
  ),
  above(
    'Spark',
    'Yes.',
    `On 6 Jan 2026 at 10:11 +0100, Ann Smith <ann@x.test>, wrote:
> Lunch?`,
  ),
  above(
    'Mailbird',
    'Yes.',
    `On 1/6/2026 10:11:12 AM, Ann Smith <ann@x.test> wrote:
Shall we eat at noon?`,
  ),
  above(
    'Airmail',
    'Yes.',
    `On January 6, 2026 at 10:11:12, Ann Smith (ann@x.test) wrote:

Lunch?`,
  ),
  above(
    'Windows Mail',
    'Yes.',
    `Sent from Mail for Windows

From: Ann Smith
Sent: Tuesday, January 6, 2026 10:11 AM
To: Joe
Subject: Lunch

Shall we eat at noon?`,
  ),
  above(
    'Forward within a text',
    'Please handle this.',
    `---------- Forwarded message ---------
From: Ann Smith <ann@x.test>
Date: Tue, Jan 6, 2026 at 10:11 AM
Subject: Lunch
To: <joe@dest.test>

Shall we eat at noon?`,
  ),
  above(
    'Wrote, then two blank lines, then no marks',
    'Yes, noon is fine.',
    `On Tuesday, November 3, 2026 at 10:12 AM, Mara Quill wrote:


Shall we eat at noon?
Mara`,
  ),
  above(
    'Bold fields, no address',
    'Fine.',
    `*From:* Ann Smith
*Sent:* Tuesday, January 6, 2026 10:11 AM
*To:* Joe
*Subject:* Lunch

Shall we eat at noon?`,
  ),
  above(
    'Fields with the names in capitals',
    'Fine.',
    `FROM: Ann Smith <ann@x.test>
DATE: Tue 6 Jan 2026 10:11
TO: joe@dest.test
SUBJECT: Lunch

Shall we eat at noon?`,
  ),
  above(
    'Fields in two columns',
    'Fine.',
    `From    : Ann Smith <ann@x.test>
To      : joe@dest.test
Date    : Tue 6 Jan 2026 10:11
Subject : Lunch

Shall we eat at noon?`,
  ),
  above(
    'Fields below a row of stars',
    'Fine.',
    `***************************
From: Ann Smith <ann@x.test>
To: joe@dest.test
Subject: Lunch

Shall we eat at noon?`,
  ),
  above(
    'Welsh fields',
    'Iawn.',
    `Oddi wrth: Ann <ann@x.test>
Anfonwyd: 6 Ionawr 2026 10:11
At: joe@dest.test
Pwnc: Cinio

Cinio?`,
  ),
  above(
    'Basque fields',
    'Ados.',
    `Nork: Ane <ane@x.test>
Bidalia: 2026(e)ko urtarrilak 6 10:11
Nori: joe@dest.test
Gaia: Bazkaria

Bazkalduko dugu?`,
  ),
  above(
    'French fields with the day alone',
    'Parfait.',
    `================================
De : Marie <marie@x.test>
Envoyé le : 06/01/2026
A : luc@dest.test
Objet : Devis

Voici le devis.`,
  ),
  above(
    'French fields between equals signs',
    'Parfait.',
    `================================
De    : marie@x.test
Date  : 06/01/2026 10:11
Objet : Devis
================================
Voici le devis.`,
  ),
  above(
    'French fields with mailto',
    'OK',
    `_______________________________________________________________
De : "Marie" [mailto:marie@x.test]
Envoyé : mardi 6 janvier 2026 10:11
À : luc@dest.test
Objet : Devis

Voici le devis.`,
  ),
  above(
    'Date and name, wrote without a colon',
    'Thanks!',
    `On 06/01/2026 10:11, Ann Smith wrote
> Here it is.
> Ann`,
  ),
  above(
    'wrote before the date',
    'Thanks!',
    `Ann Smith <ann@x.test> wrote on Tue, 6 Jan 2026

> Here it is.`,
  ),
  above(
    'French, écrit without a colon',
    'Merci',
    `Le mar. 6 janv. 2026 à 10:11, Marie <marie@x.test> a écrit

Voici le devis.
Marie`,
  ),
  above(
    'German, name first',
    'Danke',
    `Anna Berg <anna@x.test> schrieb am Di., 6. Jan. 2026, 10:11

> Hier ist es.`,
  ),
  above(
    'Italian, scritto without a colon',
    'Grazie',
    `Il giorno 6 gen 2026, alle ore 10:11, Anna <anna@x.test> ha scritto

Ecco qui.`,
  ),
  above(
    'Portuguese, escreveu on its own line',
    'Obrigado',
    `Em ter., 6 de jan. de 2026 às 10:11, Ana <ana@x.test>
escreveu

> Aqui está.`,
  ),
  above(
    'Outlook telephone, the original below',
    'Sure',
    `Get Outlook for Android

Hi Joe, can you send me the file?
Thanks
Ann`,
  ),
  above(
    'Huawei in Spanish',
    'Claro',
    `Enviado desde mi Huawei

Hola Joe, ¿puedes mandarme el archivo?
Ana`,
  ),
  above(
    'GMX app in German',
    'Klar',
    `Gesendet mit der GMX Mail App

Hallo Joe, kannst du mir die Datei schicken?
Anna`,
  ),
  above(
    'Windows in Italian',
    'Certo',
    `Inviato da Posta per Windows 10

Ciao Joe, mi mandi il file?
Anna`,
  ),
  above(
    'Samsung in Dutch',
    'Ok',
    `Verstuurd vanaf mijn Samsung-apparaat

Dag Joe, kun je mij het bestand sturen?
Anna`,
  ),
  above(
    'iPhone in Russian',
    'Хорошо',
    `Отправлено с iPhone

Привет, Джо, можешь прислать файл?
Анна`,
  ),
  above(
    'iPhone in Chinese',
    '好',
    `发自我的iPhone

你好，请把文件发给我。
安娜`,
  ),
  above(
    'iPhone in Korean',
    '네',
    `내 iPhone에서 보냄

안녕하세요, 파일을 보내 주세요.`,
  ),
  above(
    'wrote, without marks below',
    'Yes, I agree.',
    `On Tue, Jan 6, 2026 at 10:11 AM, Ann wrote:
We should meet on Thursday at the office and talk about
the new plan. Do you agree?

Ann`,
  ),
  above(
    'Wrapped quotation',
    'Yes, I agree.',
    `Ann Smith <ann@x.test> wrote:

> We should meet on Thursday at the office and then talk
about the new plan.
> Do you agree?`,
  ),
  above(
    'Wrapped quotation with marks',
    'Yes, I agree.',
    `On Jan 6, 2026, at 10:11 AM, Ann <ann@x.test> wrote:

> We should meet on Thursday in the office on the second floor and talk about
> the
> new plan, and then about the budget of the year, which is not ready as far as
> I
> know.`,
  ),
  above(
    'Original message with a name',
    'OK.',
    `-----Original Message-----
Ann Smith, 6 Jan 2026

Shall we meet?`,
  ),
  above(
    'Notes, forwarded',
    'OK.',
    `----- Forwarded by Joe/HQ/Dest on 01/06/2026 10:11 AM -----

Ann Smith/HQ/Dest

Shall we meet?`,
  ),
  above(
    'Swahili fields',
    'Sawa.',
    `Kutoka: Ann <ann@x.test>
Imetumwa: Jumanne, 6 Januari 2026 10:11
Kwa: joe@dest.test
Mada: Mkutano

Tukutane?`,
  ),
  above(
    'Swedish',
    'Tack',
    `Den 2026-01-06 kl. 10:11, skrev Anna Berg:
> Ska vi ses?`,
  ),
  above(
    'Zimbra Portuguese',
    'Sim',
    `De: "Ana" <ana@x.test>
Para: joe@dest.test
Enviadas: Terça-feira, 6 de Janeiro de 2026 10:11:12
Assunto: Reunião

Vamos?`,
  ),
  above(
    'Name and date',
    'Fino',
    `Ann Smith, 06.01.2026 10:11:
> Meet?`,
  ),
];
