import { describe, expect, test } from 'vitest';
import { refusalReason } from '../../../core/sending/refusal-reason.ts';
import { unknownPartIn } from '../../../core/sending/unknown-addressee.ts';

describe('a recipient is unknown', () => {
  test.each([
    'user @addr unknown here',
    "the user's mailbox could not be found on this server",
    'unknown or illegal alias',
    'there is no such person at this address',
    'the user is no longer with this organization',
    'the mailbox you are trying to reach has been retired',
    'this account has been decommissioned',
    'recipient has left the company',
    'das benutzerkonto wurde gekündigt',
    'ce compte a été clôturé',
    'cuenta dada de baja',
    'casella dismessa',
    'esta conta foi excluída',
    'der empfänger ist hier nicht bekannt',
    'die empfängeradresse ist ungültig',
    'adresse de messagerie introuvable',
    "l'utilisateur n'est pas répertorié",
    'la dirección de correo no existe',
    'usuario nao encontrado',
    'indirizzo email inesistente',
    'het e-mailadres is niet gevonden',
    'modtageren findes ikke',
    'e-postadressen hittades inte',
    'vastaanottaja on tuntematon',
    'nie ma takiego konta',
    'příjemce neexistuje',
    'a címzett nem található',
    'adresa destinatarului nu există',
    'такого пользователя не существует',
    'одержувач невідомий',
    'alıcı bulunamadı',
    'άγνωστος παραλήπτης',
    'הנמען לא נמצא',
    'المستلم غير معروف',
    '收件人地址不存在',
    '宛先のユーザーが見つかりません',
    '받는 사람을 찾을 수 없습니다',
    'địa chỉ người nhận không tồn tại',
    'alamat penerima tidak ditemukan',
    'ไม่พบผู้รับ',
  ])('%s', (text) => {
    expect(unknownPartIn(text)).toBe('recipient');
  });
});

describe('a domain is unknown', () => {
  test.each([
    'the domain could not be found',
    'host name is unknown',
    'die domain ist unbekannt',
    'domaine inconnu',
    'el dominio no existe',
    'домен не найден',
    '域名不存在',
    'ドメインが見つかりません',
  ])('%s', (text) => {
    expect(unknownPartIn(text)).toBe('domain');
  });
});

describe('nothing is unknown', () => {
  test.each([
    'unable to verify sender: unknown user',
    'sender address @addr does not exist',
    'helo name invalid: unknown host',
    'client host not found',
    'unknown error while delivering to the mailbox',
    'authentication failed: unknown user',
    'invalid header in the message to the user',
    'too many invalid recipients',
    'temporary failure: user not found',
    'the user is on holiday. the reason is unknown',
    'the mailbox is full; no such luck',
    'absender unbekannt: adresse ungültig',
    "adresse de l'expéditeur inconnue",
    'remitente desconocido, dirección inválida',
    '发件人地址无效',
    '差出人のアドレスが見つかりません',
    'superuser@ not known',
    'if the address does not exist, correct it',
    'the address may not exist',
  ])('%s', (text) => {
    expect(unknownPartIn(text)).toBeNull();
  });

  test('in clauses of more than 240 characters', () => {
    expect(unknownPartIn(`user ${'and '.repeat(60)} unknown`)).toBeNull();
  });
});

describe('more exact words win', () => {
  test.each([
    ['mailbox_full', '552 The mailbox of the user is full: unknown user quota'],
    ['blocked', '550 Your IP is on a blacklist: recipient unknown'],
    ['sender_rejected', '550 Sender address rejected: unknown user'],
    ['mailbox_disabled', '550 The account is disabled, or the user is unknown'],
  ])('decide on %s: %s', (reason, text) => {
    expect(refusalReason({ code: 550, status: null, text })).toBe(reason);
  });
});

test.each(['a', ' ', '<', '>', '不', 'user ', 'unknown ', 'nicht ', 'user. ', 'a@', '~'])(
  'a text of 50,000 characters made of %j is searched in time that grows with its length',
  (part) => {
    // 2,000 characters are read. Without this limit, and with backtracking, this would not end.
    expect(unknownPartIn(part.repeat(50_000))).toBeNull();
    expect(refusalReason({ code: null, status: null, text: part.repeat(50_000) })).toBe('unknown');
  },
);

test.each([
  'this host no longer accepts connections from your network',
  'the message for this recipient has expired',
  'the delivery to this user was cancelled',
  'the account cannot take any more mail today',
  "la connexion a été fermée par l'hôte",
  'conexão encerrada pelo servidor',
])('says nothing about an unknown one: %s', (text) => {
  expect(unknownPartIn(text)).toBeNull();
});
