// SPDX-License-Identifier: MIT
pragma solidity ^0.8.30;

/// A wallet (ERC-1271) that approves every payment, or turns on whoever pays for the gas. It is placed as bare runtime
/// code; tests write its storage.
contract TrapWallet {
    /// 0: approves. 1: approves at gas price 0, as simulations once had it, and burns all gas otherwise. 2: burns all gas.
    uint256 public mode;
    /// How often it hashes before it answers.
    uint256 public work;

    function isValidSignature(bytes32 digest, bytes calldata) external view returns (bytes4) {
        if (mode == 2 || (mode == 1 && tx.gasprice != 0)) {
            assembly ("memory-safe") {
                invalid()
            }
        }
        for (uint256 done = 0; done < work; done++) digest = keccak256(abi.encode(digest));
        return digest == 0 ? bytes4(0) : this.isValidSignature.selector;
    }
}
