// What @solana/web3.js asks of rpc-websockets when a Connection is made. Subscriptions never open.
const refuse = () => {
  throw new Error("payphone opens no websockets to Solana: poll instead");
};

exports.CommonClient = class {
  on() {}
  connect() {
    refuse();
  }
  close() {}
};
exports.WebSocket = refuse;
