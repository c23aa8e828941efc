import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "chai";
import { createCompiler } from "../../../runtime/core/schema/validator.ts";

const FOLDER = join(import.meta.dirname, "../../../schemas");

interface Property {
  readonly format?: string;
  readonly description?: string;
  readonly properties?: Readonly<Record<string, Property>>;
  readonly items?: Property;
}

/** Every property of the services' answers, at any depth, with its place. */
function propertiesOf(place: string, { properties = {}, items }: Property): [place: string, property: Property][] {
  return [
    ...(items ? propertiesOf(`${place}[]`, items) : []),
    ...Object.entries(properties).flatMap(([name, property]): [string, Property][] => [
      [`${place}.${name}`, property],
      ...propertiesOf(`${place}.${name}`, property),
    ]),
  ];
}

const answers = readdirSync(FOLDER)
  .filter((name) => /^[A-Z]\w+\.json$/.test(name) && !name.endsWith("Request.json"))
  .flatMap((name) => propertiesOf(name, JSON.parse(readFileSync(join(FOLDER, name), "utf8"))));

const accepts = (format: string, text: string): boolean =>
  createCompiler(new Map())({ type: "string", format }).check(text, "body").issues.length === 0;

describe("the fields of the services' answers", () => {
  it("are URIs by their schemas where they are addresses of pages and files", () => {
    const addresses = answers.filter(([place]) => /(?:_url|Url)$/.test(place));
    expect(addresses).to.have.length.of.at.least(8);
    for (const [place, { format }] of addresses) expect(format, place).to.equal("uri");
  });

  it("are dates and times by their schemas where they are written as ISO 8601 in UTC", () => {
    const times = answers.filter(([, { description = "" }]) => description.includes("ISO 8601 in UTC"));
    expect(times).to.have.length.of.at.least(5);
    for (const [place, { format }] of times) expect(format, place).to.equal("date-time");
    for (const [place, { format }] of answers.filter(([name]) => name.endsWith(".date")))
      expect(format, place).to.equal("date");
  });
});

describe("a standard format", () => {
  for (const [format, right, wrong] of [
    ["date", "2028-02-29", "2027-02-29"],
    ["date-time", "2027-01-31T12:00:00Z", "2027-01-31 12:00"],
    ["date-time", "2027-01-31T12:00:00.5+05:30", "2027-01-31T25:00:00Z"],
    ["uri", "https://example.com/a?b=%20#c", "https://example.com/a b"],
    ["uri", "http://[::1]:4021/v1/x", "/v1/x"],
    ["uuid", "3f0c7a52-6f0e-4c1b-9f64-0d7a4be21c55", "3f0c7a52"],
  ] as const)
    it(`${format} takes ${right}, and not ${wrong}`, () => {
      expect(accepts(format, right)).to.equal(true);
      expect(accepts(format, wrong)).to.equal(false);
    });
});
