import { expect } from "chai";
import { toEndpoint } from "../../../runtime/drivers/http/endpoint.ts";

describe("the URL of a node or a source", () => {
  const toUser = (text: string): string => {
    const { authorization = "" } = toEndpoint(text).headers;
    return Buffer.from(authorization.slice("Basic ".length), "base64").toString();
  };

  it("is sent its name and password in a header, without their escapes", () => {
    expect(toUser("https://seller:a%3Ab%20c@node.example/v1?k=%41")).to.equal("seller:a:b c");
    expect(toEndpoint("https://seller:pw@node.example/v1?k=%41").url.href).to.equal("https://node.example/v1?k=%41");
  });

  it("may have a percent sign in its password that escapes nothing", () => {
    expect(toUser("https://seller:100%@node.example")).to.equal("seller:100%");
    expect(toUser("https://seller:%zz%20@node.example")).to.equal("seller:%zz ");
  });

  it("has no header without a name and a password", () => {
    expect(toEndpoint("https://node.example").headers).to.deep.equal({});
  });

  it("is not repeated where it is no URL", () => {
    expect(() => toEndpoint("//seller:pw@node.example")).to.throw(
      RangeError,
      /^The URL of a node or a source is no URL$/,
    );
  });
});
