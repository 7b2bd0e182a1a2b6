internal import CWaylandClient
internal import CWaylandProtocols
internal import Glibc
internal import Media

/// Tells the compositor what light the film's code values mean (`color-management-v1`): wide primaries, PQ and HLG, and the display that
/// the film was graded on.
///
/// Thread-safety: belongs to the connection's thread.
@safe
final class ColorManagement {
    private let manager: OpaquePointer
    private var features: Set<UInt32> = []
    private var primaries: Set<UInt32> = []
    private var transfers: Set<UInt32> = []
    /// What has been asked for; nil for what the compositor cannot do.
    private var descriptions: [WaylandFormats.Light: ImageDescription?] = [:]

    /// - Parameter manager: Stays the connection's.
    init(_ manager: OpaquePointer) {
        unsafe self.manager = manager
        unsafe listen(manager, Self.managerListener, self)
    }

    /// Takes every description from the compositor; what surfaces were told stays.
    func destroy() {
        for description in descriptions.values { if let description { unsafe wp_image_description_v1_destroy(description.proxy) } }
        descriptions = [:]
    }

    func surface(_ surface: OpaquePointer) -> OpaquePointer? { unsafe wp_color_manager_v1_get_surface(manager, surface) }

    /// The compositor's description of `light`; nil when it has none. Waits for its answer the first time.
    func description(of light: WaylandFormats.Light, _ connection: WaylandConnection) -> OpaquePointer? {
        if let known = descriptions[light] { return unsafe known?.proxy }
        let made = make(light, connection)
        descriptions[light] = .some(made)
        return unsafe made?.proxy
    }

    private func make(_ light: WaylandFormats.Light, _ connection: WaylandConnection) -> ImageDescription? {
        guard features.contains(UInt32(WP_COLOR_MANAGER_V1_FEATURE_PARAMETRIC.rawValue)), primaries.contains(light.primaries),
            let transfer = [light.transfer, light.otherTransfer ?? light.transfer].first(where: transfers.contains),
            let creator = unsafe wp_color_manager_v1_create_parametric_creator(manager)
        else { return nil }
        unsafe wp_image_description_creator_params_v1_set_primaries_named(creator, light.primaries)
        unsafe wp_image_description_creator_params_v1_set_tf_named(creator, transfer)
        if let hdr = light.hdr { unsafe describeMastering(hdr, creator) }
        guard let made = unsafe wp_image_description_creator_params_v1_create(creator) else { return nil }
        let description = unsafe ImageDescription(made)
        // The answer may take longer than the round trip; what never comes is no answer.
        for _ in 0..<3 where description.isReady == nil { _ = connection.synchronize() }
        if description.isReady == true { return description }
        unsafe wp_image_description_v1_destroy(made)
        return nil
    }

    /// What a film does not say is left out, and so is what the compositor would take for an error.
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

/// A description, and the compositor's word on it.
@safe
private final class ImageDescription {
    let proxy: OpaquePointer
    private(set) var isReady: Bool?

    init(_ proxy: OpaquePointer) {
        unsafe self.proxy = proxy
        unsafe listen(proxy, Self.listener, self)
    }

    nonisolated(unsafe) private static let listener = unsafe listenerTable(
        wp_image_description_v1_listener(
            failed: { data, _, _, _ in unsafe receiver(data, as: ImageDescription.self).isReady = false },
            ready: { data, _, _ in unsafe receiver(data, as: ImageDescription.self).isReady = true }))
}
