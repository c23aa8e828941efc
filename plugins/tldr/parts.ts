/** Where to cut a text, best first: between paragraphs, lines, sentences, words. */
const BORDERS: readonly (readonly string[])[] = [["\n\n"], ["\n"], [". ", "! ", "? ", "。", "！", "？"], [" ", "\t"]];

/**
 * Cuts a text into parts of about the same length, each at most `maxLength` UTF-16 code units (2 or more). The parts
 * joined are the text.
 */
export function splitText(text: string, maxLength: number): string[] {
  const parts: string[] = [];
  for (let rest = text; rest !== ""; ) {
    const end = rest.length <= maxLength ? rest.length : endOfPart(rest, maxLength);
    parts.push(rest.slice(0, end));
    rest = rest.slice(end);
  }
  return parts;
}

function endOfPart(text: string, maxLength: number): number {
  const evenLength = text.length / Math.ceil(text.length / maxLength);
  const most = Math.min(maxLength, Math.ceil(evenLength * 1.2));
  for (const marks of BORDERS) {
    const ends = marks.map((mark) => text.lastIndexOf(mark, most - mark.length) + mark.length);
    const end = Math.max(...ends);
    if (end > most / 2) return end;
  }
  return isHighSurrogate(text.charCodeAt(most - 1)) ? most - 1 : most;
}

/** Whether a code unit is the first half of a character of two code units. */
const isHighSurrogate = (unit: number): boolean => unit >= 0xd800 && unit <= 0xdbff;
