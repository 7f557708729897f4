import { expect, test } from 'vitest';
import { foldText } from '../../../core/screening/folded-text.ts';
import { readOrderSentences } from '../../../core/screening/order-features.ts';
import { hasGroup } from '../../../core/screening/order-model.ts';
import type { OrderGroup } from '../../../core/screening/order-words.ts';
import { chooseLanguage, LANGUAGES, readLanguages } from '../../../core/screening/word-languages.ts';

const readSentences = (text: string) => readOrderSentences(foldText(text), () => -1);

test.each<[string, OrderGroup, boolean]>([
  ['On jest w domu, a nie w pracy.', 'they', true],
  ['We are on the train, and the mail is in the bag.', 'they', false],
  ['Bu para için daha çok zaman var.', 'money', true],
  ['El correo es para que no se pierda.', 'money', false],
  ['Je suis à la gare et je vous attends.', 'you', true],
  ['Do you read this, and is it for you?', 'you', true],
  ['To je pro mě a ne pro tebe, jak se říká.', 'you', false],
  ['Vår post är sen och vi har inte fått den.', 'our', true],
  ['The various parts of the system are in the box.', 'our', false],
])('reads a word in the language of its sentence: %s has %s: %s', (text, group, isThere) => {
  expect(readSentences(text).some((each) => hasGroup(each, group))).toBe(isThere);
});

test('reads a sentence without common words in the language of the one before', () => {
  const [, second] = readSentences('The train is late and we are in it.\nStill on board.');
  expect(second && hasGroup(second, 'they')).toBe(false);
});

test('tells no language by a single word, and keeps the one before when two are equal', () => {
  const read = (text: string, before: number) => chooseLanguage(text.split(' ').map(readLanguages), before);
  expect(read('the', -1)).toBe(-1);
  expect(read('the of', -1)).toBe(LANGUAGES.indexOf('en'));
  const spanish = LANGUAGES.indexOf('es');
  expect(read('de la', spanish)).toBe(spanish);
});
