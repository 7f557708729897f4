/**
 * Words of languages that share letters: what is a word of an order in one is often an article of another (`on` is *they* in Polish, `para` is
 * *money* in Turkish). A sentence is read in the language of which it has most common words.
 */

/** The most common words of each language, folded; no language is told by one of them alone. */
const COMMON: Readonly<Record<string, string>> = {
  en: 'the of and to in is that for with it as this on be are was by you at have from or not we he they will would has but an can if my your please which when what who there',
  de: 'der die das und zu den von mit ist ein eine einen nicht fur auf im dem des sich es wir sie ich auch bei oder wird sind haben hat einer zum zur wenn nur noch bitte nach wie',
  fr: 'le la les de des et en un une du est que qui dans pour sur au aux ce cette ne pas par plus vous nous je il elle se sont avec ou mais votre notre tout sans si',
  es: 'el la los las de del y en un una que por con para se no es su lo al como mas pero le ha este esta si o sin muy ya usted son cuando todo',
  it: 'il lo la gli le di del della dei e in un una che per con non si da al alla sono nel nella piu ma come questo questa ha mi o se anche i dal ci',
  pt: 'o a os as de do da dos das e em um uma que por com para nao se no na ao mais mas como seu sua foi este esta ou ser tem voce pelo pela quando',
  nl: 'de het een van en in is dat op te met voor niet zijn aan er om ook als bij door maar wordt naar uit dit deze u je we wij ik nog dan kan heeft over',
  pl: 'i w na z do nie sie to ze jest o po jak za od dla oraz lub przez ale co tym tego ktore ma byc czy przy a jego juz prosze',
  sv: 'och att det som en pa ar av for med den till har inte om ett i vi ni jag de kan fran sa men var eller ska nar ut nu din',
  da: 'og at det som en pa er af for med den til har ikke om et i vi jeg de kan fra sa men var eller skal nar du ved der blev',
  cs: 'a v na se je ze s z do to o i k pro ale jako za by po jsou nebo aby od byl tak ve podle uz jeho ktery jsem prosim neni',
  tr: 've bir bu da de icin ile olarak cok daha en her ne olan gibi kadar ama o sonra var degil veya ya mi lutfen size',
  vi: 'va cua la co cho khong nguoi đuoc trong mot cac nay đe voi nhung khi đa tu thi ve ra se hay vao ban toi nhu den lai ho',
  id: 'yang dan di ini itu dengan untuk dari pada ke tidak adalah akan dalam oleh juga saya kami anda ada atau telah sudah bisa agar jika para karena',
  fi: 'ja on ei se etta han mutta kun niin ovat olla tama myos joka tai jos mita sen nyt ole',
  hu: 'a az es hogy nem is egy meg ez de van csak ha el ki mar mint vagy volt minden',
  ro: 'si de la in cu pe nu este un o din care sa ca pentru mai sunt se al au fost sau ce prin',
};

/** Groups that words have in other languages only, by language: `word:group`, or `word` for all of its groups. */
const FALSE_FRIENDS: Readonly<Record<string, string>> = {
  en: 'vast husk on:they an:for a:for my:our do:for ten:this at:for care:hello min:i ton:you pan:person den mag:must dig:act sin:not mod:task son:recent,border bay:person mine dan pays has:past me:for go:passed once:past die tan:secret ben:i',
  de: 'mit:i was:past so:only e wie:whoever mai:not de:for ja:i mal:task am an:this bildung:carrier bildet:carrier bilden:carrier bestellung:quality bestanden:quality,store bestatigen:quality bestatigt:quality bestatigung:quality her:they a:for i sin:not on:they',
  fr: 'le:handling je:you du:you son:recent,border mai:not de:for si:say se:cond pays:act dit:this fra:fresh moi:fresh,whoever suis:obey tri:ai dont te:this on:they me:for an:for ton:border i:i ma:must sa:say',
  es: 'el:they de:for del:send para:money le:handling se:cond si:say ha:cond e:past son:recent,border han:they te:this carta:secret,hello carpeta:hello tan:secret resume:mail mes:i vi:our ten:this on:they lo:our i:i me:for a:they',
  it: 'il:they e:past di:say ha:cond i:i ai:ai del:send ne:not chi:only loro:pretend ma:i,must fra:fresh gia:pretend si:say,cond alla:only vi:our a:they lo:our le:handling an:for',
  pt: 'e:past de:for do:for para:money no:not ja:i lei:they nos:our nas:our ha:cond te:this mes:i se:they este:they',
  nl: 'de:for het:border te:this,you om:cond er:they dan:rule,pretend je:i ten:this bestelling:quality bestaan:quality nu:not e:past sem:not ik:they men a:for an:for al:only',
  pl: 'i:i ma:i sie:they to:must,for a:for te:you go:passed we:our bo:ignore my:i ich:i celami:only celu:only celem:only on:past se:cond do:act',
  sv: 'i:i de:for ma:i sig:say sin:not vara:our var:our varje:our varde:our vardighet:our vare:our tro:agent,pretend han:past nu:not dig:act del:send er:they dag:hello handling:handling man:they at:they',
  da: 'er:they i:i de:for ma:i mod:task sig:say sin:not nu:not tro:agent,pretend former:prior dan:rule,pretend ja:i var:our vare:our kun:cond dig:act del:send have:must handling:handling man:they',
  cs: 'a:for ma:i se:cond je:you,i i:i to:must,for at:for si:say,cond u:you ces:this my:i te:this,you do:act',
  tr: 'her:they on:they de:for din:you kamu:you para:for ya:until vardir:our uye:obey uyrugu:obey uygun:obey uyrukluk:obey mal:task saglayacak:say bulan:act once:past,only an:for',
  vi: 'moi:i,whoever thu:mail tu:you vi:our toi:you su:you so:only ai:ai ton:you dan:rule,pretend hon:they ma:i,must noi:our to:must,for te:this,you no:not he:they neu:fresh han:they an:for le:handling tam:only tan:secret se:cond on:they nu:not,fresh du:you me:i di:say do:for đat:passed bay:person chi:past tam:all hang:send a:for',
  id: 'dan:rule,pretend di:say ia:ai cara:hello agar:user saya:obey para:money,for bulan:act senin:you ban:you a:for',
  fi: 'ja:i on:they sen:you kun:only se:cond fin:border ei:they',
  hu: 'a:for el:they ki:ai hun:they ha:past de:for celjaival:only fin:border is:must',
  ro: 'si:say,cond de:for a:for are:must nu:fresh care:hello se:cond din:you om:cond este:this mai:not i:i act:pretend caracter:hello ei:not el:they uman:user o:past',
};

/** Short beginnings of words that hold in some languages only. */
const STEMS_OF =
  'sil:tr bul:tr say:tr oku:tr okuy:tr isle:tr ekle:tr ilet:tr ode:tr unut:tr izin:tr kisi:tr arac:tr atla:tr var:sv,da car:fr,it,es,pt don:es,it drog:pl,cs such:de zahl:de wahl:de offn:de fuhr:de stuf:de gib:de nenn:de zeig:de hang:de fug:de sag:de neu:de kein:de mein:de dein:de ganz:de jede:de best:de,en dies:de bild:de,sv,da reis:de,nl ziel:de rol:nl,de,pl leid:es prov:it nov:pt,cs,it now:pl nuev:es nuov:it este:es,pt ouvr:fr pag:es,it,pt paga:it,es,pt apag:pt pagu:pt,es abr:es,pt busc:es,pt cerc:it apri:it diga:es,pt avis:fr,es invi:it mand:it,es,pt donn:fr envi:fr,es,pt anex:pt,es omit:es,pt,it,en salt:es,it uita:ro duen:es agar:fi hilo:es plik:pl mapp:it,sv cal:pl cel:hu kod:pl,cs,tr,sv,da joue:fr zgod:pl dolj:en frag:de,sv noss:pt nasz:pl ptej:cs blog:en,de,fr,es,it atak:pl utok:cs kund:de,sv,da dott:it obei:pt,fr lyd:da,sv pago:es,pt kwot:pl banc:it,fr lien:fr lank:sv havd:sv slet:da smaz:cs slette:da ubah:id buka:id cari:id zeg:nl meld:nl,de mow:pl namn:sv zmin:cs shrn:cs umel:cs zeka:tr keur:nl usun:pl ejer:da eier:da jefe:es chef:de,fr,sv,da obig:de person:en,de,fr,es,sv,da';

/** Languages by number. */
export const LANGUAGES = Object.keys(COMMON);

const COMMON_IN = new Map<string, number>();
LANGUAGES.forEach((language, number) => {
  for (const word of (COMMON[language] ?? '').split(' '))
    COMMON_IN.set(word, (COMMON_IN.get(word) ?? 0) | (1 << number));
});

const WITHOUT = new Map<string, Map<number, readonly string[]>>();
LANGUAGES.forEach((language, number) => {
  for (const friend of (FALSE_FRIENDS[language] ?? '').split(' ')) {
    const [word = '', groups] = friend.split(':');
    const own = WITHOUT.get(word) ?? new Map<number, readonly string[]>();
    WITHOUT.set(word, own.set(number, groups?.split(',') ?? ['']));
  }
});

const STEM_LANGUAGES = new Map(
  STEMS_OF.split(' ').map((each) => {
    const [stem = '', languages = ''] = each.split(':');
    return [stem, languages.split(',').reduce((bits, language) => bits | (1 << LANGUAGES.indexOf(language)), 0)];
  }),
);

/** Returns the common words of all languages. */
export function readCommonWords(): Iterable<string> {
  return COMMON_IN.keys();
}

/** Returns the languages of which a word is common, as bits. */
export function readLanguages(word: string): number {
  return COMMON_IN.get(word) ?? 0;
}

/** Whether a word may mean something else in some language; `stems`: the beginnings of words that it has. */
export function isDoubtful(word: string, stems: readonly string[]): boolean {
  return WITHOUT.has(word) || stems.some((stem) => STEM_LANGUAGES.has(stem));
}

/** Whether a word that is in a group as such (`stem` empty) or by a stem means that in a language. */
export function isMeant(word: string, stem: string, group: string, language: number): boolean {
  const without = WITHOUT.get(word)?.get(language);
  if (without !== undefined && (without[0] === '' || without.includes(group))) return false;
  return ((STEM_LANGUAGES.get(stem) ?? -1) & (1 << language)) !== 0;
}

const COUNTS = new Uint8Array(LANGUAGES.length);
/** Common words that tell a language. */
const MIN_COMMON = 2;

/** Returns the language of most common words, given the languages of each; `before`, the language of the sentence before, when no one has more than others. */
export function chooseLanguage(votes: readonly number[], before: number): number {
  COUNTS.fill(0);
  for (const bits of votes)
    for (let left = bits; left !== 0; left &= left - 1) {
      const language = 31 - Math.clz32(left & -left);
      COUNTS[language] = (COUNTS[language] ?? 0) + 1;
    }
  let best = -1;
  let most = MIN_COMMON - 1;
  for (let language = 0; language < COUNTS.length; language++) {
    const count = COUNTS[language] ?? 0;
    if (count > most || (count === most && count >= MIN_COMMON && language === before))
      [best, most] = [language, count];
  }
  return best === -1 ? before : best;
}
