// SPDX-License-Identifier: MIT
pragma solidity ^0.8.30;

/// The part of Multicall3 that viem and the x402 facilitators use, with the deployed contract's selectors and texts.
contract Multicall3 {
    struct Call {
        address target;
        bytes callData;
    }

    struct Call3 {
        address target;
        bool allowFailure;
        bytes callData;
    }

    struct Result {
        bool success;
        bytes returnData;
    }

    function aggregate3(Call3[] calldata calls) external payable returns (Result[] memory results) {
        results = new Result[](calls.length);
        for (uint256 i = 0; i < calls.length; i++) {
            results[i] = _call(calls[i].target, calls[i].callData, !calls[i].allowFailure);
        }
    }

    function tryAggregate(bool requireSuccess, Call[] calldata calls)
        external
        payable
        returns (Result[] memory results)
    {
        results = new Result[](calls.length);
        for (uint256 i = 0; i < calls.length; i++) {
            results[i] = _call(calls[i].target, calls[i].callData, requireSuccess);
        }
    }

    function _call(address target, bytes calldata callData, bool mustSucceed) private returns (Result memory result) {
        (result.success, result.returnData) = target.call(callData);
        require(result.success || !mustSucceed, "Multicall3: call failed");
    }
}
