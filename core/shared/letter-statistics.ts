/** Returns the binary logarithms of the frequencies of letters: each group has a frequency in hundredths of a percent. */
function logarithms(groups: string): ReadonlyMap<string, number> {
  const found = new Map<string, number>();
  for (const [, letters = '', frequency] of groups.matchAll(/(\S+?)(\d+)/g))
    for (const letter of letters) found.set(letter, Math.log2(Number(frequency) / 10_000));
  return found;
}

/** Letters of Russian, with those of Ukrainian, Belarusian, Bulgarian, Serbian and Macedonian. */
const CYRILLIC = logarithms(
  'о1050 е830 а800 и720 н660 т620 с540 р470 в450 л430 к350 м320 д300 п280 у260 я200 ы170 ь170 г170 з165 б160 ч140 й115 х95 ж90 ш70 ю62 ц50 щ36 э30 ф28 ъ30 ё10 і150 ї30 є30 ј40 ў15 ґ4 љњћђџѓќѕ8',
);
const GREEK = logarithms(
  'α880 ά200 ο740 ό200 ι660 ί220 ε690 έ200 τ790 ν620 σ450 ς400 η400 ή130 υ350 ύ90 ρ420 π400 κ400 μ330 λ270 ω150 ώ70 γ180 δ180 θ120 χ120 φ90 β70 ξ45 ζ40 ψ16 ϊ6 ϋΐΰ3',
);
const HEBREW = logarithms(
  'י1080 ה1000 ו1020 ל720 א640 ר560 ת500 ב470 ש440 מ460 נ290 ם300 ד260 ח250 ע320 כ240 ק210 פ170 ט120 צ120 ג120 ן140 ז110 ס150 ך60 ף20 ץ12',
);
const ARABIC = logarithms(
  'ا1250 ل1100 ي660 م640 و600 ن620 ر520 ت480 ب390 ع380 د350 س300 ه390 ك260 ف280 ق250 ح210 أ260 ج140 ة280 ى90 ش140 ص100 ط100 خ100 ض80 ذ80 إ90 غ50 ث70 ز70 ء40 ئ40 ؤ20 آ20 ظ20 پ10 چ8 ژ5 گ10 ک20 ے5 ں5 ٹڈڑھ5',
);

/** The letters of a script in a charset of single bytes. */
export interface Letters {
  charset: string;
  /** binary logarithms, by letters in lower case */
  frequencies: ReadonlyMap<string, number>;
  /** letters that only end words, never end one, and never begin one */
  onlyLast: string;
  neverLast: string;
  neverFirst: string;
  /** how much likelier than another charset its letters must be, because mail hardly ever has it */
  handicap: number;
}

const cyrillic = { frequencies: CYRILLIC, onlyLast: '', neverLast: '', neverFirst: 'ъьы' };

/** Single-byte charsets of other scripts. */
export const LETTERS: readonly Letters[] = [
  { charset: 'windows-1251', ...cyrillic, handicap: 0 },
  { charset: 'koi8-u', ...cyrillic, handicap: 0 },
  { charset: 'iso-8859-5', ...cyrillic, handicap: 0.3 },
  { charset: 'cp866', ...cyrillic, handicap: 0.3 },
  { charset: 'windows-1253', frequencies: GREEK, onlyLast: 'ς', neverLast: 'σ', neverFirst: 'ς', handicap: 0 },
  {
    charset: 'windows-1255',
    frequencies: HEBREW,
    onlyLast: 'ךםןףץ',
    neverLast: 'כמנצ',
    neverFirst: 'ךםןףץ',
    handicap: 0,
  },
  { charset: 'windows-1256', frequencies: ARABIC, onlyLast: 'ةى', neverLast: '', neverFirst: 'ةىءئؤ', handicap: 0 },
];

const HIRAGANA =
  'あいうえおかきくけこさしすせそたちつてとなにぬねのはひふへほまみむめもやゆよらりるれろわをんがぎぐげござじずぜぞだでどばびぶべぼぱぴぷぺぽっゃゅょ';
const KATAKANA =
  'アイウエオカキクコサシスセソタチツテトナニネノハヒフヘホマミムメモヤユラリルレロワンガグゲゴザジズゼダデドバビブベボパピプペポッャュョー';
const JAPANESE = `${HIRAGANA}${KATAKANA}日本人大年月時分事会社様件上下中国出行見方者場合名前電話今後明内容確認送信受付注文商品金円料返社長部京東`;
const SIMPLIFIED =
  '的一是不了人我在有他这中大来上国个到说们为子和你地出道也时年得就那要下以生会自着去之过家学对可她里后小么心多天而能好都然没日于起还发成事只作当想看文无开手十用主行方又如前所本见经头面公同三已老从动两长知民样现分将外但身些与高意进把法此实回二理美点月明其种声全工己话儿者向情部正名定女问力机给等几很业最间新什打便位因重被走电四第门相次东政海口使教西再平真听世气信北少关并内加化由却代军产入先山五太水万市眼体别处总才场师书比住员九笑性通目华报立马命张活难神数件安表原车白应路期叫死常提感金何更反合放做系计或司利受光王果亲界及今京务制解各任至清物台象记边共风战干接它许八特觉望直服毛林题建南度统色字请爱让认算论百吃义科怎元社术结六功指思非流每青管夫连远资队跟带花快条院变联言权往展该领传近留红治决周保达办运武半候七必城父强步完革深区即求品士转量空甚众技轻程告江语英基派满式李息写呢识极令黄德收脸钱党倒未持取设始版双历越史商千片容研像找友孩站广改议形委早房音火际则首单据导影失拿网香似斯专石若兵弟谁校读志飞观争究包组造落视济喜离虽坏兴切您谢邮附页费票询户账购货付款签合订确认';
const TRADITIONAL =
  '的一是不了人我在有他這中大來上國個到說們為子和你地出道也時年得就那要下以生會自著去之過家學對可她裡後小麼心多天而能好都然沒日於起還發成事只作當想看文無開手十用主行方又如前所本見經頭面公同三已老從動兩長知民樣現分將外但身些與高意進把法此實回二理美點月明其種聲全工己話兒者向情部正名定女問力機給等幾很業最間新什打便位因重被走電四第門相次東政海口使教西再平真聽世氣信北少關並內加化由卻代軍產入先山五太水萬市眼體別處總才場師書比住員九笑性通目華報立馬命張活難神數件安表原車白應路期叫死常提感金何更反合放做系計或司利受光王果親界及今京務制解各任至清物台象記邊共風戰干接它許八特覺望直服毛林題建南度統色字請愛讓認算論百吃義科怎元社術結六功指思非流每青管夫連遠資隊跟帶花快條院變聯言權往展該領傳近留紅治決周保達辦運武半候七必城父強步完革深區即求品士轉量空甚眾技輕程告江語英基派滿式李息寫呢識極令黃德收臉錢黨倒未持取設始版雙歷越史商千片容研像找友孩站廣改議形委早房音火際則首單據導影失拿網香似斯專石若兵弟誰校讀志飛觀爭究包組造落視濟喜離雖壞興切您謝郵附頁費票詢戶帳購貨付款簽訂確敬啟';
const HANGUL =
  '이다는에의을가고하한지로도를사은기시리어자서나대인있들으해라정그일아수보제전니것스만주부원과상여장면게습안동할문구무회요신소우오마관되성적없말업비모물용생조국중재년각내미합공위려와간던발호민세않까당체번방유경실연계했바같금행입개러학분저트후진운현차때화월통설명거네작선타노판파청치양본단님및드립메확감답락';

/** Charsets of several bytes, and the characters that are common in them. */
export const COMMON_CHARACTERS: ReadonlyMap<string, ReadonlySet<string>> = new Map([
  ['gb18030', new Set(SIMPLIFIED)],
  ['big5hkscs', new Set(TRADITIONAL)],
  ['cp949', new Set(HANGUL)],
  ['eucjp', new Set(JAPANESE)],
  ['cp932', new Set(JAPANESE)],
]);
