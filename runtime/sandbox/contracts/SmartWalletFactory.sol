// SPDX-License-Identifier: MIT
pragma solidity ^0.8.30;

/// A wallet that is a contract: its owners' keys sign for it (ERC-1271). It has the public interface of Coinbase Smart
/// Wallet, as far as buying needs it, so that the stock libraries for that wallet sign for this one. Owners are ordinary
/// accounts; passkeys and user operations (ERC-4337) are left out.
contract SmartWallet {
    struct SignatureWrapper {
        uint256 ownerIndex;
        bytes signatureData;
    }

    bytes32 private constant DOMAIN =
        keccak256("EIP712Domain(string name,string version,uint256 chainId,address verifyingContract)");
    bytes32 private constant MESSAGE = keccak256("CoinbaseSmartWalletMessage(bytes32 hash)");

    address[] private _owners;

    error Initialized();
    error InvalidOwner(bytes owner);
    error Unauthorized();

    function initialize(bytes[] calldata owners) external payable {
        if (_owners.length != 0) revert Initialized();
        for (uint256 i = 0; i < owners.length; ++i) {
            if (owners[i].length != 32) revert InvalidOwner(owners[i]);
            _owners.push(abi.decode(owners[i], (address)));
        }
    }

    /// Any owner may spend what the wallet has.
    function execute(address target, uint256 value, bytes calldata data) external payable {
        if (!_isOwner(msg.sender)) revert Unauthorized();
        (bool ok, bytes memory answer) = target.call{value: value}(data);
        if (ok) return;
        assembly ("memory-safe") {
            revert(add(answer, 32), mload(answer))
        }
    }

    function isValidSignature(bytes32 hash, bytes calldata signature) external view returns (bytes4) {
        SignatureWrapper memory given = abi.decode(signature, (SignatureWrapper));
        bool isValid = given.ownerIndex < _owners.length && given.signatureData.length == 65
            && _recover(replaySafeHash(hash), given.signatureData) == _owners[given.ownerIndex];
        return isValid ? this.isValidSignature.selector : bytes4(0xffffffff);
    }

    /// What the owner signs: bound to this wallet and this chain, so that it is valid for no other wallet of the owner.
    function replaySafeHash(bytes32 hash) public view returns (bytes32) {
        bytes32 domain = keccak256(
            abi.encode(DOMAIN, keccak256("Coinbase Smart Wallet"), keccak256("1"), block.chainid, address(this))
        );
        return keccak256(abi.encodePacked("\x19\x01", domain, keccak256(abi.encode(MESSAGE, hash))));
    }

    receive() external payable {}

    function _isOwner(address account) private view returns (bool) {
        for (uint256 i = 0; i < _owners.length; ++i) if (_owners[i] == account) return true;
        return false;
    }

    function _recover(bytes32 digest, bytes memory signature) private pure returns (address) {
        bytes32 r;
        bytes32 s;
        uint8 v;
        assembly ("memory-safe") {
            r := mload(add(signature, 32))
            s := mload(add(signature, 64))
            v := byte(0, mload(add(signature, 96)))
        }
        return ecrecover(digest, v, r, s);
    }
}

/// Deploys the wallet of these owners at an address that is known beforehand, once. It is placed as bare runtime code, at
/// the addresses of Coinbase Smart Wallet's factories.
contract SmartWalletFactory {
    error OwnerRequired();

    function createAccount(bytes[] calldata owners, uint256 nonce) external payable returns (SmartWallet account) {
        if (owners.length == 0) revert OwnerRequired();
        account = SmartWallet(payable(getAddress(owners, nonce)));
        if (address(account).code.length != 0) return account;
        account = new SmartWallet{salt: _salt(owners, nonce)}();
        account.initialize{value: msg.value}(owners);
    }

    function getAddress(bytes[] calldata owners, uint256 nonce) public view returns (address) {
        bytes32 code = keccak256(type(SmartWallet).creationCode);
        bytes32 hash = keccak256(abi.encodePacked(bytes1(0xff), address(this), _salt(owners, nonce), code));
        return address(uint160(uint256(hash)));
    }

    function _salt(bytes[] calldata owners, uint256 nonce) private pure returns (bytes32) {
        return keccak256(abi.encode(owners, nonce));
    }
}
