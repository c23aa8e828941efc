// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

// A small ENS for tests: anybody may write into it. What is read from it behaves as ENSIP-1, 10, 19, 21 and 23 and
// EIP-3668 say.

error OffchainLookup(address sender, string[] urls, bytes callData, bytes4 callbackFunction, bytes extraData);

interface IExtendedResolver {
    function resolve(bytes calldata name, bytes calldata data) external view returns (bytes memory);
}

interface IBatchGateway {
    struct Request {
        address sender;
        string[] urls;
        bytes data;
    }

    function query(Request[] calldata requests) external view returns (bool[] memory failures, bytes[] memory responses);
}

contract EnsRegistry {
    mapping(bytes32 => address) public resolver;
    mapping(bytes32 => uint64) public ttl;

    function setRecord(bytes32 node, address resolver_, uint64 ttl_) external {
        resolver[node] = resolver_;
        ttl[node] = ttl_;
    }
}

contract EnsRegistrar {
    mapping(uint256 => uint256) public nameExpires;

    function setExpiry(uint256 id, uint256 expiry) external {
        nameExpires[id] = expiry;
    }
}

contract EnsResolver {
    mapping(bytes32 => string) public name;
    mapping(bytes32 => address) private targets;
    mapping(bytes32 => mapping(uint256 => bytes)) private coins;

    function setAddr(bytes32 node, address target) external {
        targets[node] = target;
    }

    function setCoin(bytes32 node, uint256 coin, bytes calldata target) external {
        coins[node][coin] = target;
    }

    function setName(bytes32 node, string calldata target) external {
        name[node] = target;
    }

    function addr(bytes32 node) external view returns (address) {
        return targets[node];
    }

    function addr(bytes32 node, uint256 coin) external view returns (bytes memory) {
        return coins[node][coin];
    }

    function supportsInterface(bytes4 id) external pure returns (bool) {
        return id == 0x01ffc9a7;
    }
}

// Answers for every name below the one that it is set for: with an address, or by refusing.
contract EnsWildcard is IExtendedResolver {
    error NothingHere();

    address public target;

    function setTarget(address target_) external {
        target = target_;
    }

    function resolve(bytes calldata, bytes calldata data) external view returns (bytes memory) {
        if (bytes4(data) != 0x3b3b57de || target == address(0)) revert NothingHere();
        return abi.encode(target);
    }

    function supportsInterface(bytes4 id) external pure returns (bool) {
        return id == 0x01ffc9a7 || id == type(IExtendedResolver).interfaceId;
    }
}

// Sends whoever asks to gateways, as often as they are told to.
contract EnsOffchain is IExtendedResolver {
    string[] private urls;
    bool private again;

    function setGateways(string[] calldata urls_, bool again_) external {
        urls = urls_;
        again = again_;
    }

    function resolve(bytes calldata name, bytes calldata data) external view returns (bytes memory) {
        revert OffchainLookup(address(this), urls, abi.encodeCall(this.resolve, (name, data)), this.take.selector, data);
    }

    function take(bytes calldata response, bytes calldata data) external view returns (bytes memory) {
        if (again) revert OffchainLookup(address(this), urls, data, this.take.selector, data);
        return abi.decode(response, (bytes));
    }

    function supportsInterface(bytes4 id) external pure returns (bool) {
        return id == 0x01ffc9a7 || id == type(IExtendedResolver).interfaceId;
    }
}

// Finds the resolver by walking up a DNS-encoded name, and asks it, through the batch gateway where it has to.
contract EnsUniversalResolver {
    error ResolverNotFound(bytes name);
    error ResolverNotContract(bytes name, address resolver);
    error UnsupportedResolverProfile(bytes4 selector);
    error ResolverError(bytes errorData);
    error ReverseAddressMismatch(string primary, bytes primaryAddress);

    EnsRegistry private constant REGISTRY = EnsRegistry(0x00000000000C2E074eC69A0dFb2997BA6C7d2e1e);
    // A second registry that goes first, as after a migration of names.
    mapping(bytes32 => address) private successor;

    struct Found {
        address resolver;
        bytes32 node;
        uint256 offset;
    }

    function setSuccessor(bytes32 node, address resolver) external {
        successor[node] = resolver;
    }

    function findResolver(bytes memory name) public view returns (address resolver, bytes32 node, uint256 offset) {
        Found memory found = _find(name, 0);
        return (found.resolver, found.node, found.offset);
    }

    function resolveWithGateways(bytes calldata name, bytes calldata data, string[] calldata gateways)
        external
        view
        returns (bytes memory, address)
    {
        return _ask(name, data, gateways);
    }

    function reverseWithGateways(bytes calldata lookup, uint256 coin, string[] calldata)
        external
        view
        returns (string memory, address, address)
    {
        require(coin == 60 && lookup.length == 20, "only Ethereum");
        bytes memory name = abi.encodePacked(uint8(40), _toHex(lookup), "\x04addr\x07reverse\x00");
        bytes memory data = abi.encodeWithSelector(0x691f3431, _find(name, 0).node);
        bytes memory answer = _askChain(name, data);
        string memory primary = abi.decode(answer, (string));
        if (bytes(primary).length == 0) return ("", address(0), address(0));
        bytes memory encoded = _encode(bytes(primary));
        bytes memory forward = abi.encodeWithSelector(0x3b3b57de, _find(encoded, 0).node);
        address target = abi.decode(_askChain(encoded, forward), (address));
        if (target != address(bytes20(lookup))) revert ReverseAddressMismatch(primary, abi.encodePacked(target));
        return (primary, _find(encoded, 0).resolver, _find(name, 0).resolver);
    }

    function callback(bytes calldata response, bytes calldata extra) external view returns (bytes memory, address) {
        (bool[] memory failures, bytes[] memory responses) = abi.decode(response, (bool[], bytes[]));
        (address resolver, bytes4 selector, bytes memory inner, string[] memory gateways) =
            abi.decode(extra, (address, bytes4, bytes, string[]));
        if (failures[0]) _revert(responses[0]);
        (bool ok, bytes memory answer) = resolver.staticcall(abi.encodeWithSelector(selector, responses[0], inner));
        return (_take(ok, answer, resolver, gateways), resolver);
    }

    function _askChain(bytes memory name, bytes memory data) private view returns (bytes memory answer) {
        (answer,) = _ask(name, data, new string[](0));
    }

    function _ask(bytes memory name, bytes memory data, string[] memory gateways)
        private
        view
        returns (bytes memory, address)
    {
        Found memory found = _find(name, 0);
        address resolver = found.resolver;
        if (resolver == address(0)) revert ResolverNotFound(name);
        bool extended = _isExtended(resolver);
        if (!extended && found.offset != 0) revert ResolverNotFound(name);
        if (resolver.code.length == 0) revert ResolverNotContract(name, resolver);
        bytes memory call = extended ? abi.encodeCall(IExtendedResolver.resolve, (name, data)) : data;
        (bool ok, bytes memory answer) = resolver.staticcall(call);
        if (extended) return (_take(ok, answer, resolver, gateways), resolver);
        if (!ok) revert ResolverError(answer);
        if (answer.length == 0) revert UnsupportedResolverProfile(bytes4(data));
        return (answer, resolver);
    }

    function _take(bool ok, bytes memory answer, address resolver, string[] memory gateways)
        private
        view
        returns (bytes memory)
    {
        if (ok) return abi.decode(answer, (bytes));
        if (bytes4(answer) != OffchainLookup.selector) revert ResolverError(answer);
        (address sender, string[] memory urls, bytes memory callData, bytes4 selector, bytes memory extra) =
            abi.decode(_skip(answer, 4), (address, string[], bytes, bytes4, bytes));
        IBatchGateway.Request[] memory requests = new IBatchGateway.Request[](1);
        requests[0] = IBatchGateway.Request(sender, urls, callData);
        revert OffchainLookup(
            address(this),
            gateways,
            abi.encodeCall(IBatchGateway.query, (requests)),
            this.callback.selector,
            abi.encode(resolver, selector, extra, gateways)
        );
    }

    function _find(bytes memory name, uint256 start) private view returns (Found memory) {
        uint256 length = uint8(name[start]);
        if (length == 0) return Found(address(0), bytes32(0), 0);
        uint256 next = start + 1 + length;
        Found memory above = _find(name, next);
        bytes32 label;
        assembly {
            label := keccak256(add(add(name, 33), start), length)
        }
        bytes32 node = keccak256(abi.encodePacked(above.node, label));
        address resolver = successor[node];
        if (resolver == address(0)) resolver = REGISTRY.resolver(node);
        return resolver == address(0) ? Found(above.resolver, node, above.offset) : Found(resolver, node, start);
    }

    function _isExtended(address resolver) private view returns (bool) {
        (bool ok, bytes memory answer) =
            resolver.staticcall(abi.encodeWithSelector(0x01ffc9a7, type(IExtendedResolver).interfaceId));
        return ok && answer.length == 32 && abi.decode(answer, (bool));
    }

    function _encode(bytes memory text) private pure returns (bytes memory name) {
        name = abi.encodePacked(uint8(0), text, uint8(0));
        uint256 start;
        for (uint256 i = 1; i <= text.length + 1; ++i) {
            if (i == text.length + 1 || name[i] == ".") {
                name[start] = bytes1(uint8(i - start - 1));
                start = i;
            }
        }
        name[start] = 0;
    }

    function _toHex(bytes calldata raw) private pure returns (bytes memory text) {
        bytes16 digits = "0123456789abcdef";
        text = new bytes(2 * raw.length);
        for (uint256 i; i < raw.length; ++i) {
            text[2 * i] = digits[uint8(raw[i]) >> 4];
            text[2 * i + 1] = digits[uint8(raw[i]) & 15];
        }
    }

    function _skip(bytes memory data, uint256 count) private pure returns (bytes memory rest) {
        rest = new bytes(data.length - count);
        for (uint256 i; i < rest.length; ++i) rest[i] = data[i + count];
    }

    function _revert(bytes memory reason) private pure {
        assembly {
            revert(add(reason, 32), mload(reason))
        }
    }
}
