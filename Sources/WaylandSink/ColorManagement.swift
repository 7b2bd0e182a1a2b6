internal import CWaylandClient
internal import CWaylandProtocols
internal import Glibc
internal import Media

/// Describes the film's colors to the compositor (`color-management-v1`): primaries, transfer function and mastering display.
///
/// Thread-safety: belongs to the connection's thread.
@safe
final class ColorManagement {
    private let manager: OpaquePointer
    private var features: Set<UInt32> = []
    private var primaries: Set<UInt32> = []
    private var transfers: Set<UInt32> = []
    /// The descriptions made so far; nil for those that the compositor does not support.
    private var descriptions: [WaylandFormats.ImageDescription: DescriptionProxy?] = [:]

    /// - Parameter manager: Belongs to the connection.
    init(_ manager: OpaquePointer) {
        unsafe self.manager = manager
        unsafe listen(manager, Self.managerListener, self)
    }

    /// Destroys every description. Surfaces keep what was set on them.
    func destroy() {
        for description in descriptions.values { if let description { unsafe wp_image_description_v1_destroy(description.proxy) } }
        descriptions = [:]
    }

    func surface(_ surface: OpaquePointer) -> OpaquePointer? { unsafe wp_color_manager_v1_get_surface(manager, surface) }

    /// The compositor's image description; nil when it does not support it. The first request waits for the compositor's answer.
    func description(of parameters: WaylandFormats.ImageDescription, _ connection: WaylandConnection) -> OpaquePointer? {
        if let known = descriptions[parameters] { return unsafe known?.proxy }
        let made = make(parameters, connection)
        descriptions[parameters] = .some(made)
        return unsafe made?.proxy
    }

    private func make(_ parameters: WaylandFormats.ImageDescription, _ connection: WaylandConnection) -> DescriptionProxy? {
        guard features.contains(UInt32(WP_COLOR_MANAGER_V1_FEATURE_PARAMETRIC.rawValue)), primaries.contains(parameters.primaries),
            let transfer = [parameters.transfer, parameters.otherTransfer ?? parameters.transfer].first(where: transfers.contains),
            let creator = unsafe wp_color_manager_v1_create_parametric_creator(manager)
        else { return nil }
        unsafe wp_image_description_creator_params_v1_set_primaries_named(creator, parameters.primaries)
        unsafe wp_image_description_creator_params_v1_set_tf_named(creator, transfer)
        if let hdr = parameters.hdr { unsafe describeMastering(hdr, creator) }
        guard let made = unsafe wp_image_description_creator_params_v1_create(creator) else { return nil }
        let description = unsafe DescriptionProxy(made)
        // The answer may take more than one round trip. Without an answer the description counts as unsupported.
        for _ in 0..<3 where description.isReady == nil { _ = connection.synchronize() }
        if description.isReady == true { return description }
        unsafe wp_image_description_v1_destroy(made)
        return nil
    }

    /// Leaves out what the film does not say and what the protocol forbids.
    private func describeMastering(_ hdr: HDRStaticMetadata, _ creator: OpaquePointer) {
        if features.contains(UInt32(WP_COLOR_MANAGER_V1_FEATURE_SET_MASTERING_DISPLAY_PRIMARIES.rawValue)) {
            // From units of 0.00002 to millionths.
            func millionths(_ value: UInt16) -> Int32 { Int32(value) * 20 }
            if hdr.white.y > 0 {
                unsafe wp_image_description_creator_params_v1_set_mastering_display_primaries(
                    creator, millionths(hdr.red.x), millionths(hdr.red.y), millionths(hdr.green.x), millionths(hdr.green.y),
                    millionths(hdr.blue.x), millionths(hdr.blue.y), millionths(hdr.white.x), millionths(hdr.white.y))
            }
            if hdr.maximumLuminance / 10_000 * 10_000 > hdr.minimumLuminance {
                unsafe wp_image_description_creator_params_v1_set_mastering_luminance(
                    creator, hdr.minimumLuminance, hdr.maximumLuminance / 10_000)
            }
        }
        if hdr.maximumContentLightLevel > 0 {
            unsafe wp_image_description_creator_params_v1_set_max_cll(creator, UInt32(hdr.maximumContentLightLevel))
        }
        if hdr.maximumFrameAverageLightLevel > 0 {
            unsafe wp_image_description_creator_params_v1_set_max_fall(creator, UInt32(hdr.maximumFrameAverageLightLevel))
        }
    }

    nonisolated(unsafe) private static let managerListener = unsafe listenerTable(
        wp_color_manager_v1_listener(
            supported_intent: { _, _, _ in },
            supported_feature: { data, _, feature in unsafe receiver(data, as: ColorManagement.self).features.insert(feature) },
            supported_tf_named: { data, _, transfer in unsafe receiver(data, as: ColorManagement.self).transfers.insert(transfer) },
            supported_primaries_named: { data, _, primaries in unsafe receiver(data, as: ColorManagement.self).primaries.insert(primaries) },
            done: { _, _ in }))
}

/// An image description, and whether the compositor accepted it.
@safe
private final class DescriptionProxy {
    let proxy: OpaquePointer
    private(set) var isReady: Bool?

    init(_ proxy: OpaquePointer) {
        unsafe self.proxy = proxy
        unsafe listen(proxy, Self.listener, self)
    }

    nonisolated(unsafe) private static let listener = unsafe listenerTable(
        wp_image_description_v1_listener(
            failed: { data, _, _, _ in unsafe receiver(data, as: DescriptionProxy.self).isReady = false },
            ready: { data, _, _ in unsafe receiver(data, as: DescriptionProxy.self).isReady = true }))
}
